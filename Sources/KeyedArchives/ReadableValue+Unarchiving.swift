import Foundation

extension ReadableValue {
    /// Reads an archive that Foundation's unarchiver shall read next, which stops the program off Apple's platforms where an
    /// archive holds what no archiver writes.
    ///
    /// Throws ``ArchiveError`` for all that `init(archive:)` refuses, and for sets, nulls, cycles and references to nothing
    /// anywhere in the property list. Cost: a step for each value.
    public init(archiveForUnarchiver data: Data) throws {
        let list = try BinaryPropertyList.read(data)
        let archive = try KeyedArchive(propertyList: list)
        var pending = [list]
        while let value = pending.popLast() {
            switch value {
            case .set, .null: throw ArchiveError(.malformed, "An archive has no sets and no nulls of its own.")
            case .uid(let number) where !archive.objects.indices.contains(number):
                throw ArchiveError(.danglingReference, "A reference leads to no object.", objectNumber: number)
            case .array(let elements): pending += elements
            case .dictionary(let members): pending += members.values
            default: break
            }
        }
        try archive.requireNoCycles()
        // As large as the archive may be that stands for itself; one that shares objects beyond measure is refused.
        var limits = Limits()
        limits.depth = 512
        limits.valueCount += archive.objects.count * 4
        self = try ReadableValue(archive.root, limits: limits)
    }
}

extension KeyedArchive {
    /// Throws where an object leads back to itself. Keeps a stack of its own.
    fileprivate func requireNoCycles() throws {
        enum State { case new, open, done }
        var states = Array(repeating: State.new, count: objects.count)
        var path: [(number: Int, rest: [Int])] = []
        for start in objects.indices where states[start] == .new {
            states[start] = .open
            path.append((start, Self.references(in: objects[start])))
            while let (number, references) = path.popLast() {
                var rest = references
                guard let next = rest.popLast() else {
                    states[number] = .done
                    continue
                }
                path.append((number, rest))
                switch states[next] {
                case .open: throw ArchiveError(.malformed, "An object leads back to itself.", objectNumber: next)
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
