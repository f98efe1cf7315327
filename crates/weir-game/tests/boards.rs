//! What processes are on a board: the automata of Spengler 2024, section 3.

use crate::common;

use common::read;
use weir_engine::SearchOptions;
use weir_game::{Options, solve};
use weir_model::game::{Board, Buffers, Fairness, Player};
use weir_model::ids::{ProcessId, StateId};
use weir_model::system::System;

/// The instructions of the first process in its initial state.
fn first(system: &System) -> Vec<String> {
    let board = Board::new(system, 0).unwrap_or_else(|e| panic!("{}", e.message));
    let all = board.instructions(ProcessId::new(0), StateId(0));
    let mut shown: Vec<String> = all.iter().map(|i| system.show_op(i.op)).collect();
    shown.sort();
    shown
}

fn winner(text: &str, options: Options) -> Option<Player> {
    let system = read(text);
    solve(&system, 0, &options, &SearchOptions::default(), &mut |_| {}).unwrap().winner
}

fn plain(text: &str) -> Option<Player> {
    winner(text, Options::default())
}

#[test]
fn a_choice_is_made_with_what_follows_it() {
    let game = "game reach p@end";
    let text = format!(
        "var x, y
         process p {{
             choose {{ await x == 0 }} or {{ choose {{ y = 1 }} or {{ fence }} }} or {{ wfence }}
         end:
         }} {game}"
    );
    assert_eq!(first(&read(&text)), ["fence", "nop", "r(x,0)", "w(y,1)"]);
    // A choice that leads to a target, or to the end of the process, is a `skip`.
    let text = format!("var x  process p {{ choose {{ x = 1 }} or {{ end: nop }} }} {game}");
    assert_eq!(first(&read(&text)), ["nop", "w(x,1)"]);
    let text = format!("var x  process p {{ choose {{ x = 1 end: }} or {{ }} }} {game}");
    assert_eq!(first(&read(&text)), ["nop", "w(x,1)"]);
    // One that goes round without an instruction is one too, and so is play.
    let text =
        "var x  process p { loop { choose { } or { assume false } } end: }  game avoid p@end";
    assert_eq!(plain(text), Some(Player::Process));
}

#[test]
fn waiting_is_no_play() {
    // A read that waits for what does not come is a deadlock (section 4).
    let lost = "var x  process p { await x == 1 }  process q { end: }  game avoid p@end";
    let lost = lost.replace("p@end", "r@bad") + " process r { await x == 1  bad: }";
    assert_eq!(plain(&lost), Some(Player::Update));
    // So is one that waits for several variables.
    let text = |y: i128| {
        format!(
            "var x, y = {y}
             process p {{ await x == 1 or y == 1  loop {{ nop }} }}
             process r {{ await x == 1  bad: }}
             game avoid r@bad"
        )
    };
    assert_eq!(plain(&text(0)), Some(Player::Update));
    assert_eq!(plain(&text(1)), Some(Player::Process));
}

#[test]
fn the_rules_of_section_5() {
    // The first visit of a target decides, though the process ends there.
    assert_eq!(plain("process p { nop end: }  game reach p@end"), Some(Player::Process));
    // Any process in a target counts.
    let text = "process p { loop { nop } at: } process q { nop at: } game reach p@at or q@at";
    assert_eq!(plain(text), Some(Player::Process));
    // It is the process player's turn at first, and who begins in a target has won.
    assert_eq!(plain("process p { at: nop }  game reach p@at"), Some(Player::Process));
    assert_eq!(plain("process p { at: loop { nop } }  game avoid p@at"), Some(Player::Update));
    // A deadlocked player loses.
    let text = "process p { nop } process q { loop { nop at: nop } } game avoid q@at";
    assert_eq!(plain(text), Some(Player::Update));
    // A fence needs an empty buffer, and the update player need not empty it.
    let text = "var x  process p { x = 1 fence at: }  game reach p@at";
    assert_eq!(plain(text), Some(Player::Update));
    let fair = Options { fairness: Fairness::Update, ..Options::default() };
    assert_eq!(winner(text, fair), Some(Player::Process));
}

#[test]
fn with_load_buffers_the_update_player_decides_what_is_read() {
    // With store buffers the process player reads memory; with load buffers the other
    // one decides what there is to read. So not even plain games are the same. Nobody is in
    // a deadlock here.
    let text = "var x
        process p { await x == 0 at: }
        process q { loop { nop } }
        game reach p@at";
    assert_eq!(plain(text), Some(Player::Process));
    let load = Options { buffers: Buffers::Load, ..Options::default() };
    assert_eq!(winner(text, load), Some(Player::Update));
}

#[test]
fn what_has_no_game_says_why() {
    let no = |text: &str, options: Options| {
        let system = read(text);
        solve(&system, 0, &options, &SearchOptions::default(), &mut |_| {}).unwrap_err().message
    };
    let text = "var x  process p { swap(x, 1) at: }  game reach p@at";
    assert!(no(text, Options::default()).contains("atomic"));
    let text = "var x = any(0, 1)  process p { x = 1 at: }  game reach p@at";
    assert!(no(text, Options::default()).contains("initial values"));
    let text = "var x  process p { x = 1 at: }  game avoid p@at";
    let fair = Options { fairness: Fairness::Update, ..Options::default() };
    assert!(no(text, fair).contains("update fairness"));
    let text = "var x, y  process p { x = 1  y = 1  await x == 0 or y == 0  at: }  game reach p@at";
    let load = Options { buffers: Buffers::Load, ..Options::default() };
    assert!(no(text, load).contains("one variable"));
}
