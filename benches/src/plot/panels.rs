//! Small charts side by side, of the same peers in the same colours.

use std::path::Path;

use plotters::prelude::*;

use super::style::{self, Area};
use super::{Drawn, caption};
use crate::results::Results;

const WIDTH: u32 = 960;
const TOP: u32 = 100;
const PANEL: u32 = 270;
const BOTTOM: u32 = 34;

/// What stands above the panels, and how many of these in a row.
pub(super) struct Panels {
    pub(super) title: &'static str,
    pub(super) below: &'static str,
    pub(super) columns: usize,
}

/// A peer's points.
pub(super) type Curves<T> = Vec<(&'static str, Vec<T>)>;

impl Panels {
    /// Draws each panel that has curves, and a legend of all peers that occur.
    pub(super) fn draw<N, T>(
        &self,
        results: &Results,
        path: &Path,
        panels: impl Iterator<Item = (N, Curves<T>)>,
        draw: impl Fn(&Area<'_>, &N, &Curves<T>) -> Drawn,
    ) -> Drawn {
        let panels: Vec<_> = panels.filter(|(_, curves)| !curves.is_empty()).collect();
        let rows = panels.len().div_ceil(self.columns);
        let height = TOP + PANEL * rows as u32 + BOTTOM;
        let area = SVGBackend::new(path, (WIDTH, height)).into_drawing_area();
        style::frame(&area, self.title, self.below, &caption(results))?;

        let mut peers: Vec<&str> = Vec::new();
        for (peer, _) in panels.iter().flat_map(|(_, curves)| curves) {
            if !peers.contains(peer) {
                peers.push(peer);
            }
        }
        style::legend(&area, &peers, TOP as i32 - 24)?;

        let (_, rest) = area.split_vertically(TOP);
        let (grid, _) = rest.split_vertically(height - TOP - BOTTOM);
        let cells = grid.split_evenly((rows.max(1), self.columns));
        for ((name, curves), cell) in panels.iter().zip(&cells) {
            draw(cell, name, curves)?;
        }
        Ok(area.present()?)
    }
}
