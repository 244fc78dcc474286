//! Written forms and how they are spoken: the shared cases, and further ones of the same kinds.

use std::collections::BTreeMap;

use sauti_text::normalise;

struct Case<'a> {
    input: &'a str,
    expected: &'a str,
    category: &'a str,
    unsure: bool,
}

fn cases(text: &'static str) -> Vec<Case<'static>> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let column = |i: usize| columns.get(i).copied().unwrap_or_default();
        Case {
            input: column(0),
            expected: column(1),
            category: column(2),
            unsure: column(5) == "UNSURE",
        }
    })
    .collect()
}

/// Right and all cases, sure and unsure, by category; the misses are printed.
fn score(cases: &[Case<'_>]) -> ((usize, usize), (usize, usize)) {
    let mut by_category: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for case in cases {
        let spoken = normalise(&case.input.replace('⏎', "\n"));
        let right = spoken == case.expected;
        let row = by_category.entry(case.category).or_default();
        let column = if case.unsure { 2 } else { 0 };
        row[column] += usize::from(right);
        row[column + 1] += 1;
        if !right {
            let mark = if case.unsure { "unsure" } else { "WRONG" };
            println!(
                "{mark} [{}] {:?}\n  said   {spoken:?}\n  wanted {:?}",
                case.category, case.input, case.expected
            );
        }
    }
    for (category, row) in &by_category {
        println!(
            "{category:14} sure {:3}/{:3}  unsure {:2}/{:2}",
            row[0], row[1], row[2], row[3]
        );
    }
    let sum = |i: usize| by_category.values().map(|row| row[i]).sum();
    println!(
        "all            sure {:3}/{:3}  unsure {:2}/{:2}",
        sum(0),
        sum(1),
        sum(2),
        sum(3)
    );
    ((sum(0), sum(1)), (sum(2), sum(3)))
}

#[test]
fn the_shared_cases_are_spoken_as_expected() {
    let cases = cases(include_str!("../data/normalisation-cases.tsv"));
    assert_eq!(cases.len(), 212);
    let ((right, sure), (_, _)) = score(&cases);
    assert!(right * 100 >= sure * 97, "{right} of {sure}");
}

#[test]
fn further_cases_of_the_same_kinds_are_spoken_as_expected() {
    let cases = cases(include_str!("../data/further-cases.tsv"));
    assert!(cases.len() > 150);
    let ((right, all), _) = score(&cases);
    assert_eq!(right, all);
}

#[test]
fn cases_written_without_looking_at_the_code_are_spoken_as_expected() {
    let cases = cases(include_str!("../data/fresh-cases.tsv"));
    assert!(cases.len() > 150);
    let ((right, all), _) = score(&cases);
    assert_eq!(right, all);
}

#[test]
fn what_is_read_over_a_telephone_line_is_spoken_as_expected() {
    let cases = cases(include_str!("../data/line-cases.tsv"));
    assert!(cases.len() > 150);
    let ((right, all), _) = score(&cases);
    assert_eq!(right, all);
}
