import AllocationCounter

/// One thing that a program does with many objects, and what doing it with one of them costs.
struct Operation {
    typealias Body = () throws -> Void

    /// What the store holds before anything is prepared.
    enum Start {
        case empty
        /// As many notes as the operation is done with, saved and forgotten.
        case notes
    }

    let name: String
    private let start: Start
    private let prepare: (NoteStore, Int) throws -> Body

    /// - Parameter prepare: Makes all that is needed for so many objects, and gives what is to be counted.
    init(_ name: String, startingWith start: Start, prepare: @escaping (NoteStore, Int) throws -> Body) {
        self.name = name
        self.start = start
        self.prepare = prepare
    }

    /// Something that is done with each of the notes of a store, which have been fetched with their rows, after something
    /// else has been done with all of them.
    init(_ name: String, after first: @escaping (Note) -> Void = { _ in }, forEach body: @escaping (Note) -> Void) {
        self.init(name, startingWith: .notes) { store, _ in
            let notes = try store.fetchNotes()
            notes.forEach(first)
            return { notes.forEach(body) }
        }
    }

    /// How many allocations the operation takes each time. What it takes once, however many objects there are, is not in the
    /// number: statements that are prepared, tables that are built.
    func allocations() throws -> Double {
        let count = 400
        // What a process does once: the runtime's tables of types, Foundation's own.
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
