//! What a live session costs: its seconds, on each channel, rounded up, and at least the smallest charge. Money is set aside in intervals
//! before their sound is listened to. An interval that was heard whole is paid; of the last one, what the caller was told.
//! Started seconds of each channel count towards the seconds of audio a minute, too.

use std::collections::VecDeque;

use sauti_audio::Channels;
use sauti_store::LedgerError;

use super::take_audio;
use crate::app::App;
use crate::money::{Bill, Hold};
use crate::{Payer, ServiceError};

const INTERVAL_S: u32 = 15;

pub struct LiveMeter {
    app: App,
    payer: Payer,
    channels: Channels,
    /// Whose seconds a minute are used.
    actor: String,
    /// One for each interval that is reserved and not paid, in their order.
    holds: VecDeque<Hold>,
    reserved_s: u32,
    counted_s: u32,
    paid_s: u32,
    cost_micro: i64,
    balance_micro: i64,
}

pub struct LivePaid {
    pub cost_micro: i64,
    pub balance_micro: i64,
}

impl LiveMeter {
    /// Counts the first second, and sets the money for the first interval aside.
    pub async fn open(
        app: &App,
        payer: Payer,
        actor: &str,
        channels: Channels,
    ) -> Result<LiveMeter, ServiceError> {
        let mut meter = LiveMeter {
            app: app.clone(),
            payer,
            channels,
            actor: actor.to_owned(),
            holds: VecDeque::new(),
            reserved_s: 0,
            counted_s: 0,
            paid_s: 0,
            cost_micro: 0,
            balance_micro: 0,
        };
        meter.count_to(1).await?;
        meter.reserve().await?;
        Ok(meter)
    }

    /// Counts sound up to this second, and sets the money for it aside.
    pub async fn reserve_to(&mut self, seconds: f64) -> Result<(), ServiceError> {
        self.count_to(seconds.ceil() as u32).await?;
        while seconds > f64::from(self.reserved_s) {
            self.reserve().await?;
        }
        Ok(())
    }

    /// Pays for the intervals that were heard whole.
    pub async fn pay_intervals(&mut self, heard_seconds: f64) -> Result<(), LedgerError> {
        while heard_seconds >= f64::from(self.paid_s + INTERVAL_S) {
            self.pay_to(f64::from(self.paid_s + INTERVAL_S)).await?;
        }
        Ok(())
    }

    /// Pays up to this second and gives the rest back.
    pub async fn close(mut self, seconds: f64) -> Result<LivePaid, LedgerError> {
        self.pay_intervals(seconds).await?;
        if seconds > f64::from(self.paid_s) {
            self.pay_to(seconds).await?;
        }
        Ok(LivePaid {
            cost_micro: self.cost_micro,
            balance_micro: self.balance_micro,
        })
    }

    async fn count_to(&mut self, second: u32) -> Result<(), ServiceError> {
        if second > self.counted_s {
            let more_seconds = f64::from((second - self.counted_s) * self.channels.count());
            take_audio(&self.app, &self.actor, more_seconds).await?;
            self.counted_s = second;
        }
        Ok(())
    }

    async fn reserve(&mut self) -> Result<(), LedgerError> {
        let bill = self.bill(self.reserved_s, f64::from(self.reserved_s + INTERVAL_S));
        let hold = Hold::reserve(&self.app, &self.payer, &bill).await?;
        self.balance_micro = hold.available_micro() + bill.amount_micro;
        self.holds.push_back(hold);
        self.reserved_s += INTERVAL_S;
        Ok(())
    }

    async fn pay_to(&mut self, seconds: f64) -> Result<(), LedgerError> {
        let bill = self.bill(self.paid_s, seconds);
        if let Some(hold) = self.holds.pop_front() {
            self.balance_micro = hold.settle(&bill, None).await?;
            self.cost_micro += bill.amount_micro;
        }
        self.paid_s = seconds.ceil() as u32;
        Ok(())
    }

    /// From one second on. The parts of a session add up to the price of the whole.
    fn bill(&self, from_s: u32, to_seconds: f64) -> Bill {
        let bill = |seconds| Bill::transcription(&self.app.config.prices, seconds, self.channels);
        let (whole, mut before) = (bill(to_seconds), bill(f64::from(from_s)));
        if from_s == 0 {
            before.amount_micro = 0;
        }
        Bill {
            units: whole.units - before.units,
            amount_micro: whole.amount_micro - before.amount_micro,
            audio_seconds: to_seconds - f64::from(from_s),
            ..whole
        }
    }
}
