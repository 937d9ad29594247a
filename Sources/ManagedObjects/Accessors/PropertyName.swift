import Synchronization

/// A property's name as a small number, so that an accessor finds its field without hashing a string.
///
/// Equal names have equal numbers for the life of the process, whatever entity they belong to. Cost of creating one: a
/// lock and a look-up; accessors create theirs once.
public struct PropertyName: Sendable, Hashable {
    let number: Int

    /// The number of a name, which is assigned on first use.
    public init(_ name: String) {
        number = Self.names.withLock { names in
            if let number = names.numbers[name] { return number }
            names.numbers[name] = names.strings.count
            names.strings.append(name)
            return names.strings.count - 1
        }
    }

    /// The name. Cost: a lock.
    var string: String { Self.names.withLock { $0.strings[number] } }

    /// All names, by number.
    static var all: [String] { names.withLock { $0.strings } }

    private struct Names {
        var numbers: [String: Int] = [:]
        var strings: [String] = []
    }

    private static let names = Mutex(Names())
}
