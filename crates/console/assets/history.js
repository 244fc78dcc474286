// What was spoken in this window: kept by the browser until the window closes or the session ends.

const PREFIX = "spoken ";
const KEY = PREFIX + document.getElementById("shell").dataset.session;

export function load() {
  for (const key of Object.keys(sessionStorage)) {
    // Somebody else was signed in here before.
    if (key.startsWith(PREFIX) && key !== KEY) sessionStorage.removeItem(key);
  }
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

// Where the browser has no more room, the oldest sounds go first; their texts stay.
export function save(items) {
  for (let kept = items.length; kept >= 0; kept--) {
    const list = items.map((item, i) => (i < kept ? item : { ...item, sound: undefined }));
    try {
      return sessionStorage.setItem(KEY, JSON.stringify(list));
    } catch {
      // Fewer sounds, then.
    }
  }
}
