import AllocationCounter

/// An operation on many objects, and the number of allocations for one object.
struct Operation {
    typealias Body = () throws -> Void

    /// The content of the store before the operation is prepared.
    enum Start {
        case empty
        /// As many saved notes as the operation uses; the context holds none of them.
        case notes
    }

    let name: String
    private let start: Start
    private let prepare: (NoteStore, Int) throws -> Body

    /// - Parameter prepare: Prepares the operation for a number of objects, and returns the part that is counted.
    init(_ name: String, startingWith start: Start, prepare: @escaping (NoteStore, Int) throws -> Body) {
        self.name = name
        self.start = start
        self.prepare = prepare
    }

    /// An operation on each of the notes of a store, which have been fetched with their rows. `first` is called for all notes
    /// before the operation, and is not counted.
    init(_ name: String, after first: @escaping (Note) -> Void = { _ in }, forEach body: @escaping (Note) -> Void) {
        self.init(name, startingWith: .notes) { store, _ in
            let notes = try store.fetchNotes()
            notes.forEach(first)
            return { notes.forEach(body) }
        }
    }

    /// The number of allocations for each object. One-time allocations, such as prepared statements and tables, are not
    /// included.
    func allocations() throws -> Double {
        let count = 400
        // Allocations that a process makes once: the runtime's tables of types, Foundation's own.
        _ = try allocations(count / 10)
        let (fewer, more) = (try allocations(count), try allocations(2 * count))
        return (more - fewer) / Double(count)
    }

    private func allocations(_ count: Int) throws -> Double {
        let store = try NoteStore(notes: start == .empty ? 0 : count)
        return try withExtendedLifetime(store) {
            let body = try prepare(store, count)
            let before = allocationCount()
            try body()
            return Double(allocationCount() - before)
        }
    }
}
