//! The codec of the example `redis`, with random input: what a client sends may be cut anywhere, and may be anything.

#[path = "../examples/redis/request.rs"]
#[allow(dead_code)]
mod request;

use request::Request;

/// Numbers that only look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// The number of seeds to try: more of them if `scripts/fuzz` says so.
fn seeds(usual: u64) -> u64 {
    std::env::var("WINDLASS_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn random_request(random: &mut Random) -> (Vec<Vec<u8>>, Vec<u8>) {
    let arguments: Vec<Vec<u8>> = (0..random.below(6))
        .map(|_| (0..random.below(40)).map(|_| random.next() as u8).collect())
        .collect();
    let mut bytes = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in &arguments {
        bytes.extend(format!("${}\r\n", argument.len()).into_bytes());
        bytes.extend(argument);
        bytes.extend(b"\r\n");
    }
    (arguments, bytes)
}

#[test]
fn random_requests_come_out_as_they_went_in_wherever_they_are_cut() {
    for seed in 1..=seeds(200) {
        let mut random = Random(seed);
        let (arguments, bytes) = random_request(&mut random);
        let mut request = Request::default();
        for cut in 0..bytes.len() {
            assert!(matches!(request.read(&bytes[..cut]), Ok(None)), "seed {seed}, cut at {cut}");
        }
        // What follows belongs to the next one.
        let mut more = bytes.clone();
        more.extend((0..random.below(20)).map(|_| random.next() as u8));
        assert_eq!(request.read(&more).unwrap(), Some(bytes.len()), "seed {seed}");
        assert_eq!(request.len(), arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            assert_eq!(request.argument(&more, index), argument);
        }
        assert!(request.argument(&more, arguments.len()).is_empty());
    }
}

/// No panic, and no argument outside of what was read.
#[test]
fn random_nonsense_is_refused_or_waited_for() {
    for seed in 1..=seeds(2000) {
        let mut random = Random(seed);
        let (_, mut bytes) = random_request(&mut random);
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.next() as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"*$\r\n0129-"[random.below(9)]),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let mut request = Request::default();
        if let Ok(Some(length)) = request.read(&bytes) {
            assert!(length <= bytes.len(), "seed {seed}: more than there is");
            for index in 0..request.len() {
                assert!(request.argument(&bytes, index).len() <= length);
            }
        }
    }
}
