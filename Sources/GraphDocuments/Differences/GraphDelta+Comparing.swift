extension GraphDelta {
    /// The changes between two lists of records. Of several records with the same entity and id the last is used.
    package init(from old: some Sequence<GraphRecord>, to new: some Sequence<GraphRecord>) {
        var before = Dictionary(
            old.lazy.filter { !$0.isDeleted }.map { ($0.subject, $0.canonical) }, uniquingKeysWith: { $1 })
        let after = Dictionary(
            new.lazy.filter { !$0.isDeleted }.map { ($0.subject, $0.canonical) }, uniquingKeysWith: { $1 })
        var changes: [RecordChange] = []
        for (subject, record) in after {
            guard let was = before.removeValue(forKey: subject) else {
                changes.append(.inserted(record))
                continue
            }
            let update = RecordUpdate(from: was, to: record)
            if !update.isEmpty { changes.append(.updated(update)) }
        }
        self.init(changes + before.values.map { .deleted($0) })
    }

    /// The changes between two states that are read record by record, in any order: documents and stores of any size.
    ///
    /// Each function passes its state's records to its argument. The old state is read twice, the new one once. Memory
    /// holds the ids and a fingerprint of each record of the old state, and the changes.
    ///
    /// Throws the errors of the functions, and `DeltaError` if a state contains two records with the same entity and
    /// id.
    package init(
        from old: ((GraphRecord) throws -> Void) throws -> Void, to new: ((GraphRecord) throws -> Void) throws -> Void
    ) throws {
        var fingerprints: [RecordSubject: Fingerprint] = [:]
        try old { record in
            guard !record.isDeleted else { return }
            guard fingerprints.updateValue(Fingerprint(record.canonical), forKey: record.subject) == nil else {
                throw DeltaError.repeated(record.subject)
            }
        }
        var inserted: Set<RecordSubject> = []
        var changed: [RecordSubject: GraphRecord] = [:]
        var changes: [RecordChange] = []
        try new { record in
            guard !record.isDeleted else { return }
            let record = record.canonical
            guard let known = fingerprints[record.subject] else {
                guard inserted.insert(record.subject).inserted else { throw DeltaError.repeated(record.subject) }
                changes.append(.inserted(record))
                return
            }
            guard !known.isUnchanged, changed[record.subject] == nil else { throw DeltaError.repeated(record.subject) }
            if known == Fingerprint(record) {
                fingerprints[record.subject]?.isUnchanged = true
            } else {
                changed[record.subject] = record
            }
        }
        try old { record in
            guard !record.isDeleted, fingerprints[record.subject]?.isUnchanged == false else { return }
            let record = record.canonical
            guard let new = changed[record.subject] else {
                changes.append(.deleted(record))
                return
            }
            let update = RecordUpdate(from: record, to: new)
            if !update.isEmpty { changes.append(.updated(update)) }
        }
        self.init(changes)
    }

    /// The changes since a token, in a state that is read record by record. The delta contains new values only. The
    /// state is read once; memory holds the ids, and the changes.
    package init(since token: GraphToken, to new: ((GraphRecord) throws -> Void) throws -> Void) rethrows {
        self.init(try token.changes(to: new), knowledge: .new)
    }

    /// A 128-bit hash of a record, and whether the record was found unchanged.
    private struct Fingerprint: Equatable {
        let first: Int
        let second: Int
        var isUnchanged = false

        init(_ record: GraphRecord) {
            var one = Hasher()
            one.combine(record)
            first = one.finalize()
            var other = Hasher()
            other.combine(1)
            other.combine(record)
            second = other.finalize()
        }

        static func == (left: Fingerprint, right: Fingerprint) -> Bool {
            left.first == right.first && left.second == right.second
        }
    }
}
