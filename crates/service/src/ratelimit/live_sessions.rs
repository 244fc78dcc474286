//! Live sessions at the same time: so many in all, so many for each workspace. A shutdown tells the open ones, and waits
//! for them: the HTTP server does not, for it has let go of upgraded connections.

use std::collections::HashMap;
use std::sync::Arc;

use sauti_store::WorkspaceId;
use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatRefused {
    /// The workspace has its share.
    Share { max: usize },
    /// Nobody gets one now.
    Full,
}

/// Cheap to clone: all clones share the same seats.
#[derive(Debug, Clone)]
pub struct LiveSessions {
    total_max: usize,
    workspace_max: usize,
    open: Arc<watch::Sender<HashMap<WorkspaceId, usize>>>,
    closing: Arc<watch::Sender<bool>>,
}

/// One session's place, given back when dropped.
#[derive(Debug)]
pub struct Seat {
    sessions: LiveSessions,
    workspace_id: WorkspaceId,
}

impl LiveSessions {
    /// Zero means: as the number of cores suggests, and a quarter of the whole for one workspace.
    pub fn new(total_max: usize, workspace_max: usize, cores: usize) -> LiveSessions {
        let total_max = match total_max {
            0 => (4 * cores).max(8),
            max => max,
        };
        let workspace_max = match workspace_max {
            0 => (total_max / 4).max(1),
            max => max,
        };
        LiveSessions {
            total_max,
            workspace_max,
            open: Arc::new(watch::channel(HashMap::new()).0),
            closing: Arc::new(watch::channel(false).0),
        }
    }

    pub fn take_seat(&self, workspace_id: &WorkspaceId) -> Result<Seat, SeatRefused> {
        let mut refused = None;
        self.open.send_if_modified(|open| {
            let held = open.get(workspace_id).copied().unwrap_or(0);
            if held >= self.workspace_max {
                refused = Some(SeatRefused::Share {
                    max: self.workspace_max,
                });
            } else if open.values().sum::<usize>() >= self.total_max {
                refused = Some(SeatRefused::Full);
            } else {
                open.insert(workspace_id.clone(), held + 1);
            }
            refused.is_none()
        });
        match refused {
            Some(refused) => Err(refused),
            None => Ok(Seat {
                sessions: self.clone(),
                workspace_id: workspace_id.clone(),
            }),
        }
    }

    /// How many sessions are open.
    pub fn count(&self) -> usize {
        self.open.borrow().values().sum()
    }

    /// Tells every session to come to its end.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Completes once `close` was called. The sender lives as long as we do, so waiting cannot fail.
    pub async fn closed(&self) {
        self.closing
            .subscribe()
            .wait_for(|closing| *closing)
            .await
            .ok();
    }

    /// Completes when no session is open.
    pub async fn drained(&self) {
        self.open.subscribe().wait_for(HashMap::is_empty).await.ok();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.sessions.open.send_modify(|open| {
            let held = open.get(&self.workspace_id).copied().unwrap_or(0);
            match held {
                0 | 1 => open.remove(&self.workspace_id),
                held => open.insert(self.workspace_id.clone(), held - 1),
            };
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(letter: &str) -> WorkspaceId {
        format!("ws_{letter}").parse().unwrap()
    }

    #[test]
    fn a_workspace_takes_its_share_and_leaves_the_rest_to_others() {
        let sessions = LiveSessions::new(3, 2, 1);
        let first = sessions.take_seat(&id("a")).unwrap();
        let _second = sessions.take_seat(&id("a")).unwrap();
        let refused = sessions.take_seat(&id("a")).unwrap_err();
        assert_eq!(refused, SeatRefused::Share { max: 2 });
        let _other = sessions.take_seat(&id("b")).unwrap();
        assert_eq!(sessions.take_seat(&id("c")).unwrap_err(), SeatRefused::Full);
        assert_eq!(sessions.count(), 3);
        drop(first);
        let _again = sessions.take_seat(&id("c")).unwrap();
    }

    #[test]
    fn without_a_setting_no_workspace_gets_more_than_a_quarter() {
        let sessions = LiveSessions::new(0, 0, 2);
        let seats: Vec<_> = (0..8)
            .map_while(|_| sessions.take_seat(&id("a")).ok())
            .collect();
        assert_eq!(seats.len(), 2);
        assert!(sessions.take_seat(&id("b")).is_ok());
    }

    #[tokio::test]
    async fn draining_waits_for_the_last_seat() {
        let sessions = LiveSessions::new(3, 2, 1);
        sessions.drained().await;
        let seat = sessions.take_seat(&id("a")).unwrap();
        sessions.close();
        sessions.closed().await;
        let waiting = tokio::spawn({
            let sessions = sessions.clone();
            async move { sessions.drained().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(seat);
        waiting.await.unwrap();
    }
}
