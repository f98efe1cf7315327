use super::*;

#[test]
fn keeps_each_once() {
    let mut store: Store = Store::default();
    let first = store.insert(&[1, 2, 3], None).unwrap().unwrap();
    let second = store.insert(&[1, 2], Some(first)).unwrap().unwrap();
    assert_eq!(store.insert(&[1, 2, 3], Some(second)), Ok(None));
    assert_eq!(store.get(second), [1, 2]);
    let wide = [0, 127, 128, 300, 1 << 14, u32::MAX];
    let third = store.insert(&wide, None).unwrap().unwrap();
    assert_eq!(store.get(third), wide);
    assert_eq!((store.find(&[1, 2]), store.find(&[2])), (Some(second), None));
    assert_eq!(store.parent(second), Some(first));
    assert_eq!(store.parent(first), None);
    for i in 0..100_000_u32 {
        let fresh = store.insert(&[i, i / 3, 7, 7, i % 5], None).unwrap();
        assert!(fresh.is_some());
    }
    for i in 0..100_000_u32 {
        assert_eq!(store.insert(&[i, i / 3, 7, 7, i % 5], None), Ok(None));
    }
    assert_eq!(store.len(), 100_003);
}

fn config(n: u32) -> Vec<u8> {
    [&n.to_le_bytes()[..], &vec![7; n as usize % 300]].concat()
}

/// The same calls with and without a disk, in levels of several sizes.
#[test]
fn what_is_on_disk_is_still_there() {
    let folder = std::env::temp_dir().join(format!("weir-store-{}", std::process::id()));
    let (mut plain, mut spilled) = (Store::default(), Store::default());
    spilled.spill_to(&folder).unwrap();
    let mut next = 0_u32;
    for level in [1, 10, 5000, 100, 29_000, BLOCK as u32, BLOCK as u32, 3] {
        let first = next as usize;
        for n in (0..level).map(|n| next + n).chain((0..next).step_by(7)) {
            let (packed, parent) = (config(n), Some(ConfigId(n / 2)).filter(|_| n > 0));
            for store in [&mut plain, &mut spilled] {
                let found = store.number_packed(&packed, Hash::of(&packed), parent);
                assert_eq!(found, Ok((ConfigId(n), n >= next)));
            }
        }
        next += level;
        spilled.close_before(first).unwrap();
    }
    for id in (0..next).map(ConfigId) {
        assert_eq!(*spilled.packed(id).unwrap(), config(id.0));
        assert_eq!(plain.packed(id).unwrap(), spilled.packed(id).unwrap());
        assert_eq!(plain.origin(id).unwrap(), spilled.origin(id).unwrap());
    }
    assert_eq!(plain.bytes_on_disk(), 0);
    assert!(spilled.bytes_on_disk() > 1 << 20);
    assert!(spilled.bytes() < plain.bytes() / 2, "{} {}", spilled.bytes(), plain.bytes());
    // The file has no name.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir(folder).unwrap();
}

#[test]
fn a_full_disk_is_an_error() {
    // Where there is no such device, there is nothing to test.
    let Ok(full) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/full") else {
        return;
    };
    let mut store: Store = Store { spill: Some(Spill::of(full)), ..Store::default() };
    for n in 0..2 * BLOCK as u32 {
        store.insert(&[n], None).unwrap();
    }
    let error = store.close_before(store.len()).unwrap_err();
    assert!(matches!(&error, Full::Disk(_)), "{error}");
    assert_eq!(store.get(ConfigId(77)), [77]);
}

/// What cannot be read cannot be compared, so nothing is added any more.
#[test]
fn a_disk_that_cannot_be_read_is_an_error() {
    let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") else {
        return;
    };
    let mut store: Store = Store { spill: Some(Spill::of(null)), ..Store::default() };
    for n in 0..2 * BLOCK as u32 {
        store.insert(&[n], None).unwrap();
    }
    store.close_before(store.len()).unwrap();
    assert!(matches!(store.insert(&[77], None), Err(Full::Disk(_))));
    assert!(matches!(store.insert(&[u32::MAX], None), Err(Full::Disk(_))));
}

#[test]
fn workers_get_about_the_same() {
    for peers in [1, 2, 3, 5, 64] {
        let mut counts = vec![0_u32; peers];
        for n in 0..64_000_u32 {
            counts[Hash::of(&n.to_le_bytes()).worker(peers)] += 1;
        }
        let fair = 64_000 / peers as u32;
        assert!(counts.iter().all(|c| c.abs_diff(fair) < fair / 4), "{counts:?}");
    }
}
