//! The two programs side by side, in turns, and the ratios of what they say.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{kernels, mixed};

/// What one process said, by name.
type Figures = BTreeMap<String, f64>;

/// What is asked for on the command line.
struct Asked<'a> {
    rounds: usize,
    millis: u64,
    names: Vec<&'a str>,
}

impl<'a> Asked<'a> {
    fn parse(words: &[&'a str]) -> Result<Self, String> {
        let mut asked = Self { rounds: 5, millis: 400, names: Vec::new() };
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut number = || {
                let number = words.next().and_then(|word| word.parse::<u64>().ok());
                number.filter(|&number| number > 0).ok_or_else(|| format!("{word} needs a number"))
            };
            match word {
                "--rounds" => {
                    asked.rounds = usize::try_from(number()?).map_err(|why| why.to_string())?
                }
                "--time" => asked.millis = number()?,
                name if is_known(name) => asked.names.push(name),
                name => return Err(format!("there is no kernel called {name}")),
            }
        }
        if asked.names.is_empty() {
            asked.names = kernels::ALL.iter().map(|kernel| kernel.name).collect();
            asked.names.push(mixed::NAME);
        }
        Ok(asked)
    }
}

fn is_known(name: &str) -> bool {
    name == mixed::NAME || kernels::ALL.iter().any(|kernel| kernel.name == name)
}

/// Compares this program with `genuine`, and prints a table.
pub(crate) fn run(genuine: &str, words: &[&str]) -> Result<(), String> {
    let asked = Asked::parse(words)?;
    let ours = std::env::current_exe().map_err(|why| format!("this program: {why}"))?;
    let genuine = Path::new(genuine);
    let mut pairs: Vec<Vec<(Figures, Figures)>> = asked.names.iter().map(|_| Vec::new()).collect();
    for round in 0..asked.rounds {
        for (name, pairs) in asked.names.iter().zip(&mut pairs) {
            let child = |program| child(program, name, asked.millis);
            // Neither is always the one that finds the machine warm.
            pairs.push(if round % 2 == 0 {
                let first = child(genuine)?;
                (first, child(&ours)?)
            } else {
                let first = child(&ours)?;
                (child(genuine)?, first)
            });
        }
    }
    println!("| kernel | figure | rayon's core | windlass | ratio | least – most |");
    println!("|---|---|---:|---:|---:|---:|");
    for (name, pairs) in asked.names.iter().zip(&pairs) {
        print(name, pairs);
    }
    Ok(())
}

/// One kernel in one of the programs.
fn child(program: &Path, name: &str, millis: u64) -> Result<Figures, String> {
    let mut command = Command::new(program);
    command.args(["child", name, &millis.to_string()]).stderr(Stdio::inherit());
    let output = command.output().map_err(|why| format!("{}: {why}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{} child {name}: {}", program.display(), output.status));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let figures = said.lines().filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    Ok(figures.collect())
}

fn print(kernel: &str, pairs: &[(Figures, Figures)]) {
    let Some((first, _)) = pairs.first() else { return };
    for figure in first.keys() {
        let of = |figures: &Figures| figures.get(figure).copied().unwrap_or(f64::NAN);
        let genuine = sorted(pairs.iter().map(|(genuine, _)| of(genuine)));
        let ours = sorted(pairs.iter().map(|(_, ours)| of(ours)));
        let ratios = sorted(pairs.iter().map(|(genuine, ours)| of(ours) / of(genuine)));
        println!(
            "| {kernel} | {figure} | {:.3} | {:.3} | **{:.2}** | {:.2} – {:.2} |",
            median(&genuine),
            median(&ours),
            median(&ratios),
            ratios[0],
            ratios[ratios.len() - 1],
        );
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Of values in order.
fn median(sorted: &[f64]) -> f64 {
    let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
    f64::midpoint(sorted[low], sorted[high])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_kernels_and_numbers() {
        let asked = Asked::parse(&["--rounds", "7", "fib", "--time", "50"]).unwrap();
        assert_eq!((asked.rounds, asked.millis, asked.names), (7, 50, vec!["fib"]));
        let all = Asked::parse(&[]).unwrap();
        assert_eq!(all.names.len(), kernels::ALL.len() + 1);
        for wrong in [&["nothing"][..], &["--rounds"], &["--rounds", "0"], &["--time", "long"]] {
            assert!(Asked::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_median_of_two_lies_between_them() {
        assert_eq!(median(&sorted([3.0, 1.0, 2.0].into_iter())), 2.0);
        assert_eq!(median(&sorted([3.0, 1.0].into_iter())), 2.0);
    }
}
