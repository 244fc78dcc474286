/** What can go wrong. Program against the class or against `code`; `detail` is for people. */

export interface FieldProblem {
  field: string;
  code: string;
  message: string;
}

/** A refusal as the service writes it (RFC 9457). */
export interface Problem {
  code?: string;
  detail?: string;
  request_id?: string;
  errors?: FieldProblem[];
  required?: number | null;
  available?: number | null;
}

/** Anything this client throws by itself. */
export class SautiError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** No answer came: the address is wrong, the server is away, or the time ran out. */
export class ConnectionFailed extends SautiError {}

/** A stream ended before its end. What came of it is not the whole, and is all that was charged. */
export class StreamBroken extends SautiError {
  constructor(message: string, readonly code = "", readonly requestId = "") {
    super(message);
  }
}

/** The service refused. `code` is the word to program against, `requestId` the one to report. */
export class APIError extends SautiError {
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: FieldProblem[];

  constructor(readonly status: number, readonly problem: Problem, readonly retryAfterSeconds?: number) {
    const code = problem.code ?? "";
    const detail = problem.detail || `HTTP ${status}`;
    const requestId = problem.request_id ?? "";
    super(`${detail} (${code || status}, ${requestId || "no request id"})`);
    this.code = code;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = problem.errors ?? [];
  }
}

/** 400 or 422: a field is wrong, or the recording cannot be decoded. `errors` names the fields. */
export class InvalidRequest extends APIError {}
/** 401: the key is missing or not accepted. */
export class AuthenticationError extends APIError {}
/** 402: the workspace or the key has too little left; both amounts in micro-units. */
export class InsufficientBalance extends APIError {
  get requiredMicro(): number | undefined {
    return this.problem.required ?? undefined;
  }
  get availableMicro(): number | undefined {
    return this.problem.available ?? undefined;
  }
}
/** 403: the key lacks the permission, or the account is not confirmed. */
export class PermissionDenied extends APIError {}
/** 404. */
export class NotFound extends APIError {}
/** 409: the same request is still running, or something is in the way. */
export class ConflictError extends APIError {}
/** 413: the file is too large or the recording too long. */
export class TooLarge extends APIError {}
/** 415: not a kind of recording the service reads. */
export class UnsupportedMedia extends APIError {}
/** 429: too many requests. */
export class RateLimited extends APIError {}
/** 5xx. */
export class ServerError extends APIError {}
/** 503: busy, warming up or shutting down. */
export class Overloaded extends ServerError {}

const BY_STATUS: Record<number, typeof APIError> = {
  400: InvalidRequest, 401: AuthenticationError, 402: InsufficientBalance, 403: PermissionDenied, 404: NotFound,
  409: ConflictError, 413: TooLarge, 415: UnsupportedMedia, 422: InvalidRequest, 429: RateLimited, 503: Overloaded,
};

export function refusal(status: number, problem: Problem, retryAfterSeconds?: number): APIError {
  const kind = BY_STATUS[status] ?? (status >= 500 ? ServerError : APIError);
  return new kind(status, problem, retryAfterSeconds);
}
