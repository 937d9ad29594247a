import Foundation

extension ReadableValue {
    /// Reads an archive in order to check it for Foundation's unarchiver, which outside Apple's platforms stops the
    /// program at some invalid archives.
    ///
    /// Throws ``ArchiveError`` for everything that `init(archive:)` rejects, and for sets, nulls, cycles and dangling
    /// references anywhere in the property list. Cost: a step for each value.
    public init(archiveForUnarchiver data: Data) throws {
        let list = try BinaryPropertyList.read(data)
        let archive = try KeyedArchive(propertyList: list)
        var pending = [list]
        while let value = pending.popLast() {
            switch value {
            case .set, .null:
                throw ArchiveError(.malformed, "A keyed archive cannot contain a set or a null as a plain value.")
            case .uid(let number) where !archive.objects.indices.contains(number):
                throw ArchiveError(.danglingReference, "A reference is dangling.", at: .object(number))
            case .array(let elements): pending += elements
            case .dictionary(let members): pending += members.values
            default: break
            }
        }
        try archive.requireNoCycles()
        // The limit grows with the archive. An archive that multiplies its size by shared objects is rejected.
        var limits = Limits()
        limits.depth = 512
        limits.valueCount += archive.objects.count * 4
        self = try ReadableValue(archive.root, limits: limits)
    }
}

extension KeyedArchive {
    /// Throws when an object contains itself, directly or indirectly. Iterative.
    fileprivate func requireNoCycles() throws {
        enum State { case new, open, done }
        var states = Array(repeating: State.new, count: objects.count)
        var path: [(number: Int, rest: [Int])] = []
        for start in objects.indices where states[start] == .new {
            states[start] = .open
            path.append((start, Self.references(in: objects[start])))
            while let last = path.indices.last {
                // In place: a copy of the rest for each reference would cost the square of their number.
                guard let next = path[last].rest.popLast() else {
                    states[path.removeLast().number] = .done
                    continue
                }
                switch states[next] {
                case .open: throw ArchiveError(.malformed, "An object contains itself.", at: .object(next))
                case .done: break
                case .new:
                    states[next] = .open
                    path.append((next, Self.references(in: objects[next])))
                }
            }
        }
    }

    /// The numbers of the objects that a value refers to.
    private static func references(in value: PropertyListValue) -> [Int] {
        var numbers: [Int] = []
        var pending = [value]
        while let value = pending.popLast() {
            switch value {
            case .uid(let number): numbers.append(number)
            case .array(let elements): pending += elements
            case .dictionary(let members): pending += members.values
            default: break
            }
        }
        return numbers
    }
}
