//! `game` in the Weir language.

use weir_front::weir::print;
use weir_model::program::Objective;

#[test]
fn games_are_read_and_printed() {
    let text = "
        var x
        process p { x = 1  there: }
        process q[i: 0..1] { here: nop  there: }
        game reach p@there or q[1]@here
        stay: game avoid q@there
        never x == 2
    ";
    let (program, _) = weir_front::read("t.weir", text, None).unwrap();
    let [reach, avoid] = program.games.as_slice() else { panic!("two games") };
    assert_eq!((reach.objective, reach.targets.len()), (Objective::Reach, 2));
    // A family without a number is all of its members.
    assert_eq!((avoid.objective, avoid.targets.len()), (Objective::Avoid, 2));
    assert_eq!(avoid.name.as_deref(), Some("stay"));
    assert_eq!(program.properties.len(), 1);

    let printed = print(&program);
    assert!(printed.contains("game reach p@there or q[1]@here"), "{printed}");
    assert!(printed.contains("stay: game avoid q[0]@there or q[1]@there"), "{printed}");
    let (again, _) = weir_front::read("t.weir", &printed, None).unwrap();
    assert_eq!(print(&again), printed);
}

#[test]
fn errors_in_games_are_said() {
    for (game, message) in [
        ("game p@there", "expected `reach` or `avoid` after `game`, found `p`"),
        ("game reach x == 1", "only places are allowed here, as in `p@here or q@there`"),
        (
            "game reach p@there and p@there",
            "only places are allowed here, as in `p@here or q@there`",
        ),
        ("game reach p@nowhere", "`nowhere` is not a label of process `p`"),
        ("game reach r@there", "there is no process `r`"),
        ("a: game reach p@there a: never x == 1", "`a` is declared twice"),
    ] {
        let text = format!("var x  process p {{ x = 1  there: }}  {game}");
        let errors = weir_front::read("t.weir", &text, None).unwrap_err();
        assert_eq!(errors[0].message, message, "{game}");
    }
}
