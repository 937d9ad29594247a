#if PostgreSQL
    /// The slots of an entity's rows that updates write: the changed ones that have columns, and those of derived attributes.
    struct WrittenSlots {
        let entity: SQLEntity
        let derivations: OwnDerivations
        /// The slots that are written with every update.
        private let derived: [Int]
        /// The result for the previous update, whose slots the next one mostly has.
        private var previous: (changed: [Int], written: [Int])?

        init(_ entity: SQLEntity) {
            self.entity = entity
            derivations = OwnDerivations(entity.entity)
            derived = derivations.slots.filter { entity.columns[$0] != nil }
        }

        /// The slots, ascending.
        ///
        /// - Parameter changed: The slots that an update changes.
        mutating func slots(of changed: [Int]) -> [Int] {
            if let previous, previous.changed == changed { return previous.written }
            let own = changed.filter { entity.columns[$0] != nil && !derivations.derivedSlots.contains($0) }
            let written = (own + derived).sorted()
            previous = (changed, written)
            return written
        }
    }
#endif
