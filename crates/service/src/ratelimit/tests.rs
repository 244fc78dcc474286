//! The same promises, kept in this process and in the Valkey that SAUTI_TEST_VALKEY_URL names (`./test valkey`).

use std::time::Duration;

use sauti_store::ids::new_id;

use super::*;

fn limits(requests_per_minute: u32, concurrent_requests: u32) -> RateLimits {
    RateLimits {
        requests_per_minute,
        concurrent_requests,
        audio_seconds_per_minute: 60,
    }
}

/// Makes each named async function, which takes rates of so many requests and places, a test of both kinds.
macro_rules! here_and_in_valkey {
    ($($name:ident),* $(,)?) => {
        mod here {
            $(#[tokio::test]
            async fn $name() {
                super::$name(|limits| super::Rates::new(limits, None)).await;
            })*
        }
        mod in_valkey {
            $(#[tokio::test]
            #[ignore = "needs Valkey: ./test valkey"]
            async fn $name() {
                let valkey = super::Valkey::of_the_tests();
                super::$name(|limits| super::Rates::new(limits, Some(valkey.clone()))).await;
            })*
        }
    };
}

here_and_in_valkey!(
    a_caller_who_used_its_requests_waits_and_others_do_not,
    a_place_among_those_at_once_comes_back_with_the_permit,
    a_recording_longer_than_the_allowance_goes_through_once,
    other_limits_hold_at_once,
);

async fn a_caller_who_used_its_requests_waits_and_others_do_not(
    make: impl Fn(RateLimits) -> Rates,
) {
    let (rates, caller) = (make(limits(2, 10)), new_id("key_"));
    let (first, _a) = rates.admit(&caller).await.unwrap();
    assert_eq!((first.remaining, first.reset_s), (1, 30));
    let _b = rates.admit(&caller).await.unwrap();
    let refused = rates.admit(&caller).await.unwrap_err();
    assert!((29..=30).contains(&refused.retry_after_s), "{refused:?}");
    rates.admit(&new_id("key_")).await.unwrap();
}

async fn a_place_among_those_at_once_comes_back_with_the_permit(
    make: impl Fn(RateLimits) -> Rates,
) {
    let (rates, caller) = (make(limits(10_000, 1)), new_id("key_"));
    let (_, permit) = rates.admit(&caller).await.unwrap();
    assert_eq!(rates.admit(&caller).await.unwrap_err().retry_after_s, 1);
    drop(permit);
    for _ in 0..500 {
        if rates.admit(&caller).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the place did not come back");
}

async fn a_recording_longer_than_the_allowance_goes_through_once(
    make: impl Fn(RateLimits) -> Rates,
) {
    let (rates, caller) = (make(limits(100, 1)), new_id("key_"));
    rates.take_audio(&caller, 120.0).await.unwrap();
    let wait_s = rates.take_audio(&caller, 30.0).await.unwrap_err();
    assert!((89..=90).contains(&wait_s), "{wait_s}");
    rates.take_audio(&new_id("key_"), 30.0).await.unwrap();
}

async fn other_limits_hold_at_once(make: impl Fn(RateLimits) -> Rates) {
    let (rates, caller) = (make(limits(1, 10)), new_id("key_"));
    let _first = rates.admit(&caller).await.unwrap();
    rates.admit(&caller).await.unwrap_err();
    let live = [
        ("requests_per_minute".to_owned(), 100),
        ("concurrent_requests".to_owned(), 0),
        ("x".to_owned(), 5),
    ];
    rates.set_limits(apply(rates.limits(), &live));
    assert_eq!(rates.limits(), limits(100, 10), "0 is passed over");
    let (status, _) = rates.admit(&new_id("key_")).await.unwrap();
    assert_eq!(status.remaining, 99);
}

#[tokio::test]
#[ignore = "needs Valkey: ./test valkey"]
async fn two_processes_share_one_bucket_in_valkey() {
    let caller = new_id("key_");
    let one = Rates::new(limits(3, 2), Some(Valkey::of_the_tests()));
    let other = Rates::new(limits(3, 2), Some(Valkey::of_the_tests()));
    let _a = one.admit(&caller).await.unwrap();
    let (status, _b) = other.admit(&caller).await.unwrap();
    assert_eq!(status.remaining, 1);
    let refused = one.admit(&caller).await.unwrap_err();
    assert_eq!(
        (refused.status.remaining, refused.retry_after_s),
        (1, 1),
        "both places are taken"
    );
}

#[tokio::test]
async fn without_an_answer_from_valkey_each_process_counts_for_itself() {
    let (rates, caller) = (
        Rates::new(limits(2, 10), Some(Valkey::that_is_away())),
        new_id("key_"),
    );
    let _a = rates.admit(&caller).await.unwrap();
    let _b = rates.admit(&caller).await.unwrap();
    rates.admit(&caller).await.unwrap_err();
}
