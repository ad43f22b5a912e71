//! Counts words: traits, generics, closures, iterators, threads, errors and panics of an ordinary Rust program.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

#[derive(Debug)]
enum CountError {
    Empty,
    TooLong { word: String, limit: usize },
}

impl fmt::Display for CountError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CountError::Empty => write!(out, "nothing to count"),
            CountError::TooLong { word, limit } => write!(out, "{word} is longer than {limit}"),
        }
    }
}

impl Error for CountError {}

trait Tally {
    fn add(&mut self, word: &str);
    fn top(&self, count: usize) -> Vec<(String, u64)>;
}

#[derive(Default)]
struct Hashed(HashMap<String, u64>);

#[derive(Default)]
struct Sorted(BTreeMap<String, u64>);

impl Tally for Hashed {
    fn add(&mut self, word: &str) {
        *self.0.entry(word.to_owned()).or_insert(0) += 1;
    }
    fn top(&self, count: usize) -> Vec<(String, u64)> {
        ranked(self.0.iter().map(|(word, n)| (word.clone(), *n)), count)
    }
}

impl Tally for Sorted {
    fn add(&mut self, word: &str) {
        *self.0.entry(word.to_owned()).or_default() += 1;
    }
    fn top(&self, count: usize) -> Vec<(String, u64)> {
        ranked(self.0.iter().map(|(word, n)| (word.clone(), *n)), count)
    }
}

fn ranked<I: Iterator<Item = (String, u64)>>(words: I, count: usize) -> Vec<(String, u64)> {
    let mut all: Vec<_> = words.collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(count);
    all
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn check(word: &str, limit: usize) -> Result<&str, CountError> {
    if word.len() > limit {
        return Err(CountError::TooLong { word: word.to_string(), limit });
    }
    Ok(word)
}

fn count(lines: &[String], tally: &mut dyn Tally) -> Result<(), Box<dyn Error>> {
    if lines.is_empty() {
        return Err(Box::new(CountError::Empty));
    }
    for line in lines {
        for word in words(line) {
            tally.add(check(word, 40)?);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut lines: Vec<String> = std::env::args().skip(1).collect();
    if lines.is_empty() {
        lines = io::stdin().lock().lines().collect::<Result<_, _>>()?;
    }
    let shared = Arc::new(Mutex::new(Vec::new()));
    let (sender, receiver) = mpsc::channel();
    let workers: Vec<_> = lines
        .chunks(2)
        .map(|chunk| {
            let (chunk, shared, sender) = (chunk.to_vec(), Arc::clone(&shared), sender.clone());
            thread::spawn(move || {
                let mut tally = Hashed::default();
                if let Err(error) = count(&chunk, &mut tally) {
                    sender.send(error.to_string()).unwrap();
                }
                shared.lock().unwrap().extend(tally.top(usize::MAX));
            })
        })
        .collect();
    drop(sender);
    for worker in workers {
        worker.join().expect("a worker panicked");
    }
    let mut all = Sorted::default();
    for (word, n) in shared.lock().unwrap().iter() {
        (0..*n).for_each(|_| all.add(word));
    }
    let mut out = io::stdout().lock();
    for (word, n) in all.top(10) {
        writeln!(out, "{n:>6} {word}")?;
    }
    receiver.iter().for_each(|error| eprintln!("{error}"));
    Ok(())
}
