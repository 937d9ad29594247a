/// A parsed key of a mapping: the steps to a value.
struct MappedPath: Hashable, Sendable {
    let text: String
    let steps: [Step]

    enum Step: Hashable, Sendable {
        case member(String)
        /// An element; negative indexes count from the end.
        case index(Int)
    }

    /// The keys that represent an object's position, not its contents.
    enum Place: String { case key = "@key", index = "@index", value = "@value" }

    /// Set if the whole path is such a key.
    let place: Place?

    /// Nil for an invalid path: empty steps, unclosed brackets, or brackets without a number.
    init?(_ text: String) {
        self.text = text
        place = Place(rawValue: text)
        if place != nil {
            steps = []
            return
        }
        var steps: [Step] = []
        var member = ""
        var isEscaped = false
        /// Whether a member, and not an index, must follow: at the beginning and after a dot.
        var wantsMember = true
        var rest = Substring(text)
        while let character = rest.popFirst() {
            if isEscaped || !["\\", ".", "["].contains(character) {
                guard wantsMember || !member.isEmpty else { return nil }
                if character == "@", member.isEmpty, !isEscaped { return nil }
                member.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
                wantsMember = wantsMember || !member.isEmpty
            } else {
                if !member.isEmpty {
                    steps.append(.member(member))
                    member = ""
                    wantsMember = false
                } else if wantsMember {
                    return nil
                }
                if character == "." {
                    wantsMember = true
                } else {
                    guard let end = rest.firstIndex(of: "]"), let index = Int(rest[..<end]) else { return nil }
                    steps.append(.index(index))
                    rest = rest[rest.index(after: end)...]
                }
            }
        }
        if !member.isEmpty {
            steps.append(.member(member))
        } else if wantsMember || isEscaped {
            return nil
        }
        self.steps = steps
    }

    /// The member at the beginning.
    var firstMember: String? {
        if case .member(let name)? = steps.first { name } else { nil }
    }

    /// Whether a value can be written at the path: it leads only through objects, not into arrays.
    var isWritable: Bool {
        place != nil || steps.allSatisfy { if case .member = $0 { true } else { false } }
    }
}

extension ReadableValue {
    /// The value of a member of an object; nil if it does not exist. Linear in the number of members.
    package func member(_ name: String) -> ReadableValue? {
        guard case .dictionary(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The value at the end of a path; nil if a step is missing. A null on the path is treated as a missing rest.
    func value(at steps: some Sequence<MappedPath.Step>) -> ReadableValue? {
        var current = self
        for step in steps {
            switch (step, current) {
            case (.member(let name), _):
                guard let next = current.member(name) else { return nil }
                current = next
            case (.index(let index), .array(let values)):
                let position = index < 0 ? values.count + index : index
                guard values.indices.contains(position) else { return nil }
                current = values[position]
            default: return nil
            }
        }
        return current
    }
}

extension [ReadableValue.Member] {
    /// Writes a value at a path of members, creating the objects on the path. If there is a value already, objects are
    /// merged, and otherwise the first value is kept.
    mutating func put(_ value: ReadableValue, at steps: ArraySlice<MappedPath.Step>) {
        guard case .member(let name)? = steps.first else { return }
        let rest = steps.dropFirst()
        if let position = firstIndex(where: { $0.name == name }) {
            guard case .dictionary(var inner) = self[position].value else { return }
            if !rest.isEmpty {
                inner.put(value, at: rest)
            } else if case .dictionary(let members) = value {
                for member in members { inner.put(member.value, at: [.member(member.name)]) }
            }
            self[position].value = .dictionary(inner)
        } else if rest.isEmpty {
            append(.init(name: name, value: value))
        } else {
            var inner: [ReadableValue.Member] = []
            inner.put(value, at: rest)
            append(.init(name: name, value: .dictionary(inner)))
        }
    }
}

/// The functions of a named transformer.
package struct MappedFunctions {
    /// Converts the document's value to the attribute's; nil is null.
    package var read: ((ReadableValue) throws -> ReadableValue?)?
    /// Converts the attribute's value to the document's; nil is null.
    package var write: ((ReadableValue) throws -> ReadableValue?)?

    /// Creates functions for both directions; a missing one leaves values unchanged.
    package init(
        read: ((ReadableValue) throws -> ReadableValue?)?, write: ((ReadableValue) throws -> ReadableValue?)?
    ) {
        self.read = read
        self.write = write
    }
}

/// Finds the functions of a transformer by its name; nil if it is unknown.
package typealias MappedFunctionLookup = (String) -> MappedFunctions?
