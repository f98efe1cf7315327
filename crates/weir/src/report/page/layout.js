// Where the states of a graph stand: in layers, by their distance from the initial states.

const LAYER_GAP = 46;
const NODE_GAP = 18;
const SWEEPS = 6;

/// Places states in layers, with few crossings: each state near the middle of its
/// neighbors in the layer before, then in the layer after, some times over.
function layered(count, edges, initial, [width, height]) {
    const next = Array.from({ length: count }, () => []);
    const back = Array.from({ length: count }, () => []);
    for (const { from, to } of edges) {
        if (from === to) continue;
        next[from].push(to);
        back[to].push(from);
    }
    const layer = new Array(count).fill(-1);
    let front = initial.length ? initial : [0];
    front.forEach((s) => (layer[s] = 0));
    const layers = [];
    while (front.length) {
        layers.push(front);
        const found = [];
        for (const s of front) {
            for (const t of next[s]) {
                if (layer[t] >= 0) continue;
                layer[t] = layers.length;
                found.push(t);
            }
        }
        front = found;
    }
    const rest = [...layer.keys()].filter((s) => layer[s] < 0);
    if (rest.length) {
        rest.forEach((s) => (layer[s] = layers.length));
        layers.push(rest);
    }
    const position = new Array(count).fill(0);
    const number = (states) => states.forEach((s, i) => (position[s] = i - states.length / 2));
    layers.forEach(number);
    const middle = (s, neighbors, of) => {
        const near = neighbors[s].filter((t) => layer[t] === of);
        return near.length ? near.reduce((sum, t) => sum + position[t], 0) / near.length : position[s];
    };
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const down = sweep % 2 === 0;
        const order = down ? layers.slice(1) : layers.slice(0, -1).reverse();
        for (const states of order) {
            const of = layer[states[0]] + (down ? -1 : 1);
            const key = new Map(states.map((s) => [s, middle(s, down ? back : next, of)]));
            states.sort((a, b) => key.get(a) - key.get(b) || a - b);
            number(states);
        }
    }
    // A wide layer takes several rows, column by column, so that states keep their order.
    const widest = Math.max(6, Math.ceil(Math.sqrt(count)));
    const places = new Array(count);
    let top = 0;
    for (const states of layers) {
        const rows = Math.ceil(states.length / widest);
        const columns = Math.ceil(states.length / rows);
        states.forEach((s, i) => {
            const [column, row] = [Math.floor(i / rows), i % rows];
            places[s] = [
                (column - (columns - 1) / 2 + (row % 2) * 0.3) * (width + NODE_GAP),
                top + row * (height + NODE_GAP),
            ];
        });
        top += rows * (height + NODE_GAP) + LAYER_GAP;
    }
    return { layer, layers, places };
}
