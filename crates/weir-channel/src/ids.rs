//! Dense ids, one type for each kind of thing that a machine has.

use weir_model::dense_id;

dense_id!(
    /// A control state, `q` of `Q`.
    #[derive(Hash)]
    StateId(u16)
);
dense_id!(
    /// A channel, `c` of `C`.
    #[derive(Hash)]
    ChannelId(u16)
);
dense_id!(
    /// A message, `a` of the channel alphabet `Σ`.
    #[derive(Hash)]
    MessageId(u16)
);
dense_id!(
    /// A transition label, `ℓ` of `Λ`.
    #[derive(Hash)]
    LabelId(u16)
);
dense_id!(
    /// A transition of `Δ`.
    #[derive(Hash)]
    TransitionId(u32)
);
