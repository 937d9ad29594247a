/// The states of an object's to-many relationships, each made when it is first needed.
///
/// Most objects are asked for one relationship at most, so that the first state lies in the object itself and an array is
/// made for the others only.
struct ToManyStates: RandomAccessCollection, MutableCollection, ExpressibleByArrayLiteral {
    private var first: ToManyState?
    private var others: ContiguousArray<ToManyState?> = []

    init() {}

    init(_ states: some Sequence<ToManyState?>) {
        for (index, state) in states.enumerated() { self[index] = state }
    }

    init(arrayLiteral states: ToManyState?...) { self.init(states) }

    var startIndex: Int { 0 }
    var endIndex: Int { others.isEmpty ? (first == nil ? 0 : 1) : others.count + 1 }

    /// Calls a function with each state that has been made.
    @inline(__always)
    func forEachMade(_ body: (ToManyState) -> Void) {
        if let first { body(first) }
        if others.isEmpty { return }
        for case let state? in others { body(state) }
    }

    /// The state of a relationship by its place in the layout; nil where none has been made, also behind the end.
    subscript(index: Int) -> ToManyState? {
        @inline(__always) get { index == 0 ? first : index <= others.count ? others[index - 1] : nil }
        set {
            guard index > 0 else {
                first = newValue
                return
            }
            while others.count < index { others.append(nil) }
            others[index - 1] = newValue
        }
    }
}
