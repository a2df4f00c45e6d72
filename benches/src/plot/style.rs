//! Colours, letters and the frame that all charts share.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(super) const INK: RGBColor = RGBColor(38, 43, 51);
pub(super) const PALE_INK: RGBColor = RGBColor(110, 117, 128);
pub(super) const GRID: RGBColor = RGBColor(226, 229, 234);

pub(super) const WIN: RGBColor = RGBColor(24, 134, 84);
pub(super) const LOSS: RGBColor = RGBColor(200, 55, 45);
pub(super) const EVEN: RGBColor = RGBColor(128, 134, 144);

const FONT: &str = "sans-serif";

/// The colour of a peer, the same in every chart.
pub(super) fn colour(peer: &str) -> RGBColor {
    match peer {
        "windlass" => RGBColor(214, 90, 20),
        "tokio" => RGBColor(40, 96, 176),
        "tokio-ct" => RGBColor(120, 168, 222),
        "smol" => RGBColor(34, 139, 96),
        "compio" => RGBColor(150, 80, 165),
        "epoll" => RGBColor(90, 96, 106),
        _ => EVEN,
    }
}

pub(super) fn ink(size: u32) -> TextStyle<'static> {
    coloured(size, INK)
}

pub(super) fn pale(size: u32) -> TextStyle<'static> {
    coloured(size, PALE_INK)
}

pub(super) fn coloured(size: u32, colour: RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(&colour)
}

pub(super) fn bold(size: u32) -> TextStyle<'static> {
    (FONT, size).into_font().style(FontStyle::Bold).color(&INK)
}

/// Text that ends at its point, half above and half below it.
pub(super) fn right(style: TextStyle<'static>) -> TextStyle<'static> {
    style.pos(Pos::new(HPos::Right, VPos::Center))
}

/// Text that begins at its point, half above and half below it.
pub(super) fn left(style: TextStyle<'static>) -> TextStyle<'static> {
    style.pos(Pos::new(HPos::Left, VPos::Center))
}

/// Text around its point.
pub(super) fn centred(style: TextStyle<'static>) -> TextStyle<'static> {
    style.pos(Pos::new(HPos::Center, VPos::Center))
}

/// A line between two points.
pub(super) fn line(
    area: &Area<'_>,
    from: (i32, i32),
    to: (i32, i32),
    style: impl Into<ShapeStyle>,
) -> super::Drawn {
    Ok(area.draw(&PathElement::new([from, to], style))?)
}

pub(super) fn text(
    area: &Area<'_>,
    text: &str,
    style: &TextStyle<'_>,
    at: (i32, i32),
) -> super::Drawn {
    Ok(area.draw_text(text, style, at)?)
}

/// Title and one line below it, at the top left; what is said of the machine, at the bottom.
pub(super) fn frame(area: &Area<'_>, title: &str, below: &str, caption: &str) -> super::Drawn {
    area.fill(&WHITE)?;
    let (_, height) = area.dim_in_pixel();
    text(area, title, &left(bold(20)), (20, 26))?;
    text(area, below, &left(pale(13)), (20, 50))?;
    text(area, caption, &left(pale(11)), (20, height as i32 - 14))
}

/// Names of peers in their colours, from left to right.
pub(super) fn legend(area: &Area<'_>, peers: &[&str], y: i32) -> super::Drawn {
    let mut x = 20;
    for peer in peers {
        let colour = colour(peer);
        line(area, (x, y), (x + 22, y), colour.stroke_width(3))?;
        area.draw(&Circle::new((x + 11, y), 4, colour.filled()))?;
        text(area, peer, &left(ink(13)), (x + 28, y))?;
        x += 28 + 9 * peer.len() as i32 + 26;
    }
    Ok(())
}
