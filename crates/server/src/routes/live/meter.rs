//! What a live session costs: every started interval, set aside when it starts, taken when the
//! next one does or the session ends well.

use crate::app::App;
use crate::problem::Problem;
use crate::service::Payer;
use crate::service::money::{Bill, Hold};

const INTERVAL_S: f64 = 15.0;

pub struct Meter {
    app: App,
    payer: Payer,
    open: Option<Hold>,
    intervals: u32,
    cost_micro: i64,
    balance_micro: i64,
}

pub struct Paid {
    pub seconds: f64,
    pub cost_micro: i64,
    pub balance_micro: i64,
}

impl Meter {
    pub fn new(app: &App, payer: Payer) -> Meter {
        Meter {
            app: app.clone(),
            payer,
            open: None,
            intervals: 0,
            cost_micro: 0,
            balance_micro: 0,
        }
    }

    /// Pays up to this second, and sets the money for the interval it lies in aside.
    pub async fn reach(&mut self, seconds: f64) -> Result<(), Problem> {
        while seconds >= f64::from(self.intervals) * INTERVAL_S {
            self.settle(INTERVAL_S).await?;
            let hold = Hold::reserve(&self.app, &self.payer, &self.bill(INTERVAL_S)).await?;
            self.open = Some(hold);
            self.intervals += 1;
        }
        Ok(())
    }

    pub async fn finish(&mut self, seconds: f64) -> Result<Paid, Problem> {
        let before = f64::from(self.intervals.saturating_sub(1)) * INTERVAL_S;
        self.settle((seconds - before).clamp(0.0, INTERVAL_S))
            .await?;
        Ok(Paid {
            seconds,
            cost_micro: self.cost_micro,
            balance_micro: self.balance_micro,
        })
    }

    async fn settle(&mut self, used_seconds: f64) -> Result<(), Problem> {
        if let Some(hold) = self.open.take() {
            let bill = Bill {
                audio_seconds: used_seconds,
                ..self.bill(INTERVAL_S)
            };
            self.balance_micro = hold.settle(&bill, None).await?;
            self.cost_micro += bill.amount_micro;
        }
        Ok(())
    }

    fn bill(&self, seconds: f64) -> Bill {
        Bill::transcription(&self.app.config.prices, seconds)
    }
}
