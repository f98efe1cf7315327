// Maps and sets that are hashed, and the macros.
use std::collections::{HashMap, HashSet, hash_map::Entry};

fn main() {
    let mut map: HashMap<u32, &str> = HashMap::new();
    map.insert(1, "one");
    map.insert(2, "two");
    *map.entry(3).or_insert("x") = "three";
    assert_eq!(map[&3], "three");
    assert_eq!(map.get(&2), Some(&"two"));
    assert!(map.remove(&1).is_some() && !map.contains_key(&1));
    if let Entry::Occupied(e) = map.entry(2) {
        e.remove();
    }
    let keys: Vec<_> = map.keys().copied().collect();
    assert_eq!(keys, [3]);
    let other: HashMap<_, _> = [(3, "three")].into();
    assert_eq!(map, other);
    let set: HashSet<i32> = (0..4).chain(2..5).collect();
    assert_eq!(set.len(), 5);
    let mut sum = 0;
    for x in &set {
        sum += x;
    }
    assert_eq!(dbg!(sum), 10);
    let grouped: HashMap<bool, Vec<i32>> = set.into_iter().fold(HashMap::new(), |mut m, x| {
        m.entry(x % 2 == 0).or_default().push(x);
        m
    });
    assert_eq!(grouped.values().map(Vec::len).sum::<usize>(), 5);
    assert!(std::panic::catch_unwind(|| 3).is_ok());
    const { assert!(1 + 1 == 2) };
    const fn check(n: u32) -> u32 {
        if n == 0 {
            panic!("zero {}", 1);
        }
        n
    }
    assert_eq!(check(2), 2);
    // A time limit may be over at any moment, and is over at some.
    std::thread::sleep(std::time::Duration::from_secs(1000));
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(1000);
    while std::time::Instant::now() < limit {
        std::thread::yield_now();
    }
    let start = std::time::Instant::now();
    while start.elapsed().as_secs() < 1000 {}
    while limit.saturating_duration_since(std::time::Instant::now()).as_secs() > 0 {}
    assert!(limit + std::time::Duration::from_secs(1) > limit);
    eprintln!("done");
}
