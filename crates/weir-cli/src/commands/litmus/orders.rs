//! `weir litmus orders`: which memory orders forbid the classic weak behaviors under C11.
//!
//! A shape is a litmus test whose memory orders are left open. Every combination of orders is asked, and the table lists
//! the least combinations that forbid the behavior. Stronger orders never allow more, and that is checked: a combination
//! that allows what a weaker one forbids is an internal error.

use std::fmt::Write as _;

use weir::report::table::Table;
use weir::{Error, MemoryModel, Verdict, Verifier};
use weir_front::suggest::closest;

use super::{Status, fail, print, reject, stopped};
use crate::cli::litmus::LitmusOrders;
use crate::limits;
use crate::output::{paint, say_error};
use crate::terminal::STRONG;

/// An operation of a thread.
#[derive(Clone, Copy)]
enum Op {
    /// Writes a value to a location.
    Write(&'static str, u8),
    /// Reads a location into a register.
    Read(&'static str, &'static str),
    /// Reads a location into a register and adds 1 to it, as one step.
    Add(&'static str, &'static str),
    /// A fence, or none.
    Fence,
    /// A relaxed write, and a relaxed read: only the other operations of the shape have an order.
    Relaxed(&'static Op),
}

use Op::{Add, Fence, Read, Relaxed, Write};

/// What a word for the order is where there is no fence.
const NONE: &str = "no fence";

impl Op {
    /// The orders that it may have, and for each those that are weaker.
    fn orders(self) -> &'static [(&'static str, &'static [usize])] {
        match self {
            Write(..) => &[("relaxed", &[]), ("release", &[0]), ("seq_cst", &[0, 1])],
            Read(..) => &[("relaxed", &[]), ("acquire", &[0]), ("seq_cst", &[0, 1])],
            Add(..) => &[
                ("relaxed", &[]),
                ("acquire", &[0]),
                ("release", &[0]),
                ("acq_rel", &[0, 1, 2]),
                ("seq_cst", &[0, 1, 2, 3]),
            ],
            Fence => &[
                (NONE, &[]),
                ("acquire", &[0]),
                ("release", &[0]),
                ("acq_rel", &[0, 1, 2]),
                ("seq_cst", &[0, 1, 2, 3]),
            ],
            Relaxed(_) => &[("relaxed", &[])],
        }
    }

    /// Whether it has a choice of orders.
    fn is_open(self) -> bool {
        !matches!(self, Relaxed(_))
    }

    /// Its statement in Weir's language.
    fn statement(self, order: &str) -> String {
        match self {
            Write(x, value) => format!("{x}.store({value}, {order})"),
            Read(r, x) => format!("{r} = {x}.load({order})"),
            Add(r, x) => format!("{r} = fetch_add({x}, 1, {order})"),
            Fence if order == NONE => String::new(),
            Fence => format!("fence({order})"),
            Relaxed(op) => op.statement(order),
        }
    }

    /// How it is shown.
    fn show(self) -> String {
        match self {
            Write(x, value) => format!("{x} = {value}"),
            Read(r, x) => format!("{r} = {x}"),
            Add(r, x) => format!("{r} = {x}++"),
            Fence => "fence".to_owned(),
            Relaxed(op) => op.show(),
        }
    }
}

/// A litmus test whose memory orders are left open.
struct Shape {
    name: &'static str,
    about: &'static str,
    threads: &'static [&'static [Op]],
    /// What is asked of the final state, in Weir's language.
    asks: &'static str,
}

const SHAPES: &[Shape] = &[
    Shape {
        name: "SB",
        about: "store buffering",
        threads: &[&[Write("x", 1), Read("a", "y")], &[Write("y", 1), Read("b", "x")]],
        asks: "p0.a == 0 and p1.b == 0",
    },
    Shape {
        name: "MP",
        about: "message passing",
        threads: &[&[Write("x", 1), Write("y", 1)], &[Read("a", "y"), Read("b", "x")]],
        asks: "p1.a == 1 and p1.b == 0",
    },
    Shape {
        name: "LB",
        about: "load buffering",
        threads: &[&[Read("a", "x"), Write("y", 1)], &[Read("b", "y"), Write("x", 1)]],
        asks: "p0.a == 1 and p1.b == 1",
    },
    Shape {
        name: "S",
        about: "a write that comes too late",
        threads: &[&[Write("x", 2), Write("y", 1)], &[Read("a", "y"), Write("x", 1)]],
        asks: "p1.a == 1 and x == 2",
    },
    Shape {
        name: "R",
        about: "a write and a read that race for the end",
        threads: &[&[Write("x", 1), Write("y", 1)], &[Write("y", 2), Read("a", "x")]],
        asks: "y == 2 and p1.a == 0",
    },
    Shape {
        name: "2+2W",
        about: "two writers of two locations",
        threads: &[&[Write("x", 1), Write("y", 2)], &[Write("y", 1), Write("x", 2)]],
        asks: "x == 1 and y == 1",
    },
    Shape {
        name: "WRC",
        about: "write to read causality",
        threads: &[
            &[Write("x", 1)],
            &[Read("a", "x"), Write("y", 1)],
            &[Read("b", "y"), Read("c", "x")],
        ],
        asks: "p1.a == 1 and p2.b == 1 and p2.c == 0",
    },
    Shape {
        name: "RWC",
        about: "read to write causality",
        threads: &[
            &[Write("x", 1)],
            &[Read("a", "x"), Read("b", "y")],
            &[Write("y", 1), Read("c", "x")],
        ],
        asks: "p1.a == 1 and p1.b == 0 and p2.c == 0",
    },
    Shape {
        name: "ISA2",
        about: "message passing through a third thread",
        threads: &[
            &[Write("x", 1), Write("y", 1)],
            &[Read("a", "y"), Write("z", 1)],
            &[Read("b", "z"), Read("c", "x")],
        ],
        asks: "p1.a == 1 and p2.b == 1 and p2.c == 0",
    },
    Shape {
        name: "IRIW",
        about: "independent reads of independent writes",
        threads: &[
            &[Write("x", 1)],
            &[Write("y", 1)],
            &[Read("a", "x"), Read("b", "y")],
            &[Read("c", "y"), Read("d", "x")],
        ],
        asks: "p2.a == 1 and p2.b == 0 and p3.c == 1 and p3.d == 0",
    },
    Shape {
        name: "Z6.U",
        about: "seq_cst operations around a release sequence",
        threads: &[
            &[Write("x", 1), Write("y", 1)],
            &[Add("a", "y"), Read("b", "y")],
            &[Write("y", 3), Read("c", "x")],
        ],
        asks: "p1.a == 1 and p1.b == 3 and p2.c == 0",
    },
    Shape {
        name: "MP+RMW",
        about: "message passing through a read-modify-write (release sequence)",
        threads: &[
            &[Write("x", 1), Write("y", 1)],
            &[Add("a", "y")],
            &[Read("b", "y"), Read("c", "x")],
        ],
        asks: "p1.a == 1 and p2.b == 2 and p2.c == 0",
    },
    Shape {
        name: "MP+W",
        about: "message passing through a later write of the same thread (no release sequence since C++20)",
        threads: &[
            &[Write("x", 1), Write("y", 1), Relaxed(&Write("y", 2))],
            &[Read("a", "y"), Read("b", "x")],
        ],
        asks: "p1.a == 2 and p1.b == 0",
    },
    Shape {
        name: "RMW+RMW",
        about: "two read-modify-writes of one location",
        threads: &[&[Add("a", "x")], &[Add("b", "x")]],
        asks: "p0.a == p1.b",
    },
    Shape {
        name: "CoRR",
        about: "two reads of one location",
        threads: &[&[Write("x", 1)], &[Read("a", "x"), Read("b", "x")]],
        asks: "p1.a == 1 and p1.b == 0",
    },
    Shape {
        name: "CoWW",
        about: "two writes of one location",
        threads: &[&[Write("x", 1), Write("x", 2)]],
        asks: "x == 1",
    },
    Shape {
        name: "CoWR",
        about: "a read after a write of one location",
        threads: &[&[Write("x", 1), Read("a", "x")], &[Write("x", 2)]],
        asks: "p0.a == 2 and x == 1",
    },
    Shape {
        name: "CoRW",
        about: "a write after a read of one location",
        threads: &[&[Read("a", "x"), Write("x", 1)], &[Write("x", 2)]],
        asks: "p0.a == 2 and x == 2",
    },
    Shape {
        name: "SB+F",
        about: "store buffering of relaxed accesses with fences",
        threads: &[
            &[Relaxed(&Write("x", 1)), Fence, Relaxed(&Read("a", "y"))],
            &[Relaxed(&Write("y", 1)), Fence, Relaxed(&Read("b", "x"))],
        ],
        asks: "p0.a == 0 and p1.b == 0",
    },
    Shape {
        name: "MP+F",
        about: "message passing of relaxed accesses with fences",
        threads: &[
            &[Relaxed(&Write("x", 1)), Fence, Relaxed(&Write("y", 1))],
            &[Relaxed(&Read("a", "y")), Fence, Relaxed(&Read("b", "x"))],
        ],
        asks: "p1.a == 1 and p1.b == 0",
    },
    Shape {
        name: "2+2W+F",
        about: "two writers of two locations with fences",
        threads: &[
            &[Relaxed(&Write("x", 1)), Fence, Relaxed(&Write("y", 2))],
            &[Relaxed(&Write("y", 1)), Fence, Relaxed(&Write("x", 2))],
        ],
        asks: "x == 1 and y == 1",
    },
    Shape {
        name: "R+F",
        about: "a write and a read that race for the end, with fences",
        threads: &[
            &[Relaxed(&Write("x", 1)), Fence, Relaxed(&Write("y", 1))],
            &[Relaxed(&Write("y", 2)), Fence, Relaxed(&Read("a", "x"))],
        ],
        asks: "y == 2 and p1.a == 0",
    },
    Shape {
        name: "S+F",
        about: "a write that comes too late, with fences",
        threads: &[
            &[Relaxed(&Write("x", 2)), Fence, Relaxed(&Write("y", 1))],
            &[Relaxed(&Read("a", "y")), Fence, Relaxed(&Write("x", 1))],
        ],
        asks: "p1.a == 1 and x == 2",
    },
    Shape {
        name: "WRC+F",
        about: "write to read causality with fences",
        threads: &[
            &[Relaxed(&Write("x", 1))],
            &[Relaxed(&Read("a", "x")), Fence, Relaxed(&Write("y", 1))],
            &[Relaxed(&Read("b", "y")), Fence, Relaxed(&Read("c", "x"))],
        ],
        asks: "p1.a == 1 and p2.b == 1 and p2.c == 0",
    },
    Shape {
        name: "IRIW+F",
        about: "independent reads of independent writes with fences",
        threads: &[
            &[Relaxed(&Write("x", 1))],
            &[Relaxed(&Write("y", 1))],
            &[Relaxed(&Read("a", "x")), Fence, Relaxed(&Read("b", "y"))],
            &[Relaxed(&Read("c", "y")), Fence, Relaxed(&Read("d", "x"))],
        ],
        asks: "p2.a == 1 and p2.b == 0 and p3.c == 1 and p3.d == 0",
    },
];

pub fn run(args: &LitmusOrders) -> Status {
    let mut shapes = Vec::new();
    for name in &args.shapes {
        let Some(shape) = SHAPES.iter().find(|s| s.name.eq_ignore_ascii_case(name)) else {
            let names = SHAPES.iter().map(|shape| shape.name);
            let meant =
                closest(name, names.clone()).map(|name| format!("; did you mean `{name}`?"));
            let known = || format!("; there are {}", names.collect::<Vec<_>>().join(", "));
            return fail(&format!("there is no shape `{name}`{}", meant.unwrap_or_else(known)));
        };
        shapes.push(shape);
    }
    if shapes.is_empty() {
        shapes.extend(SHAPES);
    }
    for (i, shape) in shapes.into_iter().enumerate() {
        match shape.table() {
            Ok(text) => print(&format!("{}{text}", if i > 0 { "\n" } else { "" })),
            Err(status) => return status,
        }
    }
    Status::Fine
}

impl Shape {
    fn operations(&self) -> impl Iterator<Item = Op> {
        self.threads.iter().flat_map(|thread| thread.iter().copied())
    }

    /// The program with some orders.
    fn text(&self, orders: &[usize]) -> String {
        let mut orders = orders.iter();
        let mut out = "var x, y, z\n".to_owned();
        for (p, thread) in self.threads.iter().enumerate() {
            let _ = writeln!(out, "process p{p} {{\n    reg a, b, c, d");
            for (op, &order) in thread.iter().zip(&mut orders) {
                let _ = writeln!(out, "    {}", op.statement(op.orders()[order].0));
            }
            out += "}\n";
        }
        out + &format!("weak: final exists {}\n", self.asks)
    }

    /// Whether a combination of orders allows the behavior.
    fn is_allowed(&self, orders: &[usize]) -> Result<bool, Status> {
        let verifier = Verifier::new(self.text(orders)).name(self.name);
        let report = verifier.model(MemoryModel::C11).within(limits::budget()).check();
        let report = report.map_err(|error: Error| reject(self.name, &error))?;
        match report.findings[0].verdict {
            Verdict::Holds => Ok(true),
            Verdict::Violated => Ok(false),
            Verdict::Unknown => {
                Err(stopped(report.findings[0].reason.as_deref().unwrap_or_default()))
            }
        }
    }

    /// All combinations of orders.
    fn combinations(&self) -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        for op in self.operations() {
            let with = |orders: &Vec<usize>| {
                let orders = orders.clone();
                (0..op.orders().len()).map(move |order| [&orders[..], &[order]].concat())
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }

    /// Whether no order of a combination is stronger than that of another one.
    fn is_below(&self, one: &[usize], other: &[usize]) -> bool {
        let mut pairs = self.operations().zip(one.iter().zip(other));
        pairs.all(|(op, (a, b))| a == b || op.orders()[*b].1.contains(a))
    }

    fn table(&self) -> Result<String, Status> {
        let all = self.combinations();
        let (mut allowed, mut forbidden) = (Vec::new(), Vec::new());
        for orders in &all {
            match self.is_allowed(orders)? {
                true => allowed.push(orders),
                false => forbidden.push(orders),
            }
        }
        let contradiction = allowed
            .iter()
            .find_map(|a| forbidden.iter().find(|f| self.is_below(f, a)).map(|f| (*a, *f)));
        if let Some((allowed, forbidden)) = contradiction {
            let (more, less) = (self.text(allowed), self.text(forbidden));
            say_error(
                &format!(
                    "internal error: stronger orders allow more; please report this:\n{more}\n{less}"
                ),
                Status::Internal,
            );
            return Err(Status::Internal);
        }
        let is_least = |orders: &&&Vec<usize>| {
            !forbidden.iter().any(|other| other != *orders && self.is_below(other, orders))
        };
        let least: Vec<&&Vec<usize>> = forbidden.iter().filter(is_least).collect();
        Ok(self.show(all.len(), forbidden.len(), &least))
    }

    fn show(&self, all: usize, forbidden: usize, least: &[&&Vec<usize>]) -> String {
        let mut out = format!("{}: {}\n\n", paint(STRONG, self.name), self.about);
        for (p, thread) in self.threads.iter().enumerate() {
            let ops: Vec<String> = thread.iter().map(|op| op.show()).collect();
            let _ = writeln!(out, "  thread {p}   {}", ops.join("; "));
        }
        let _ = writeln!(out, "  at the end {}?\n", self.asks);
        let combinations = |n: usize| match n {
            1 => "1 combination".to_owned(),
            n => format!("{n} combinations"),
        };
        if forbidden == 0 {
            let _ = writeln!(out, "  Allowed with all {} of orders.", combinations(all));
        } else if forbidden == all {
            let _ = writeln!(out, "  Forbidden with all {} of orders.", combinations(all));
        } else {
            let _ = writeln!(
                out,
                "  Forbidden in {forbidden} of {}: those with at least",
                combinations(all)
            );
            let open: Vec<(usize, Op)> =
                self.operations().enumerate().filter(|(_, op)| op.is_open()).collect();
            let mut table = Table::default();
            table.row(open.iter().map(|(i, op)| format!("{} {}", self.thread_of(*i), op.show())));
            for orders in least {
                table.row(open.iter().map(|(i, op)| op.orders()[orders[*i]].0.to_owned()));
            }
            for line in table.lines("  ") {
                let _ = writeln!(out, "    {line}");
            }
        }
        out
    }

    /// The thread of an operation, by the number of the operation.
    fn thread_of(&self, operation: usize) -> String {
        let mut left = operation;
        for (p, thread) in self.threads.iter().enumerate() {
            if left < thread.len() {
                return format!("{p}:");
            }
            left -= thread.len();
        }
        String::new()
    }
}
