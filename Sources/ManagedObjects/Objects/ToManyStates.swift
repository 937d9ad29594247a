/// The states of an object's to-many relationships, each made when it is first needed.
///
/// Members that came with a batch and that nobody has changed need no state: where they lie in the batch is enough. Most
/// objects are asked for one relationship at most, so that what is known of the first lies in the object itself and an
/// array is made for the others only.
///
/// As a collection it has the states that have been made: nil where there is none, and so nothing unsaved.
struct ToManyStates: RandomAccessCollection, ExpressibleByArrayLiteral {
    private enum Entry {
        case none
        /// As loaded.
        case run(MemberBatch.Run)
        case state(ToManyState)

        var state: ToManyState? {
            @inline(__always) get { if case .state(let state) = self { state } else { nil } }
        }

        var run: MemberBatch.Run? {
            @inline(__always) get { if case .run(let run) = self { run } else { nil } }
        }
    }

    private var first = Entry.none
    // Optional, because references to the empty array would be counted for every object.
    private var others: ContiguousArray<Entry>?

    init() {}

    init(_ states: some Sequence<ToManyState?>) {
        for (index, state) in states.enumerated() { setEntry(state.map { .state($0) } ?? .none, at: index) }
    }

    init(arrayLiteral states: ToManyState?...) { self.init(states) }

    var startIndex: Int { 0 }
    var endIndex: Int {
        if let others { return others.count + 1 }
        if case .none = first { return 0 }
        return 1
    }

    /// The state of a relationship by its place in the layout; nil where none has been made, also behind the end.
    subscript(index: Int) -> ToManyState? { entry(at: index).state }

    /// Calls a function with each state that has been made.
    @inline(__always)
    func forEachMade(_ body: (ToManyState) -> Void) {
        if case .state(let state) = first { body(state) }
        guard let others else { return }
        for case .state(let state) in others { body(state) }
    }

    // MARK: - One relationship

    /// Where the members lie in the batch that they were loaded with; nil where they are not loaded, or have a state.
    @inline(__always)
    func run(at index: Int) -> MemberBatch.Run? {
        index == 0 ? first.run : entry(at: index).run
    }

    /// Whether nothing is known of a relationship.
    @inline(__always)
    func isUnknown(at index: Int) -> Bool {
        if case .none = entry(at: index) { true } else { false }
    }

    mutating func setRun(_ run: MemberBatch.Run, at index: Int) { setEntry(.run(run), at: index) }

    mutating func setState(_ state: ToManyState, at index: Int) { setEntry(.state(state), at: index) }

    /// The state of a relationship, made where members have been loaded with a batch; nil where nothing is known.
    mutating func state(at index: Int) -> ToManyState? {
        switch entry(at: index) {
        case .none: return nil
        case .state(let state): return state
        case .run(let run):
            let made = ToManyState(isLoaded: false)
            made.load(run)
            setEntry(.state(made), at: index)
            return made
        }
    }

    @inline(__always)
    private func entry(at index: Int) -> Entry {
        if index == 0 { return first }
        guard let others, index <= others.count else { return .none }
        return others[index - 1]
    }

    private mutating func setEntry(_ entry: Entry, at index: Int) {
        guard index > 0 else {
            first = entry
            return
        }
        var entries = others ?? []
        others = nil
        while entries.count < index { entries.append(.none) }
        entries[index - 1] = entry
        others = entries
    }
}
