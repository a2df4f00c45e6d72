//! Systems without local sockets: nothing is moved over them.

use crate::house::House;
use crate::random::Random;

pub(crate) async fn pair(_house: House, _random: Random) {}

pub(crate) async fn pipe(_house: House, _random: Random) {}
