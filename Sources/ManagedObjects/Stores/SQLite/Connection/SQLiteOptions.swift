import Foundation

/// What a store's options say to SQLite.
struct SQLiteOptions: Sendable {
    var isReadOnly = false
    /// How long a statement waits for other connections, in seconds.
    var timeout: TimeInterval = 30
    var maximumReaderCount = 5
    /// In lower case: `wal` unless the options say otherwise; nil for the mode that the file has.
    var journalMode: String? = "wal"
    /// The other pragmas, in the order of their names.
    var pragmas: [(name: String, value: String)] = []

    init() {}

    /// Options for work on a store that must not change its journal mode.
    static var keepingJournalMode: SQLiteOptions {
        var options = SQLiteOptions()
        options.journalMode = nil
        return options
    }

    init(_ options: [AnyHashable: Any]?, isReadOnly: Bool) {
        self.isReadOnly = isReadOnly
        if let seconds = options?[NSPersistentStoreTimeoutOption] as? NSNumber, seconds.doubleValue >= 0 {
            timeout = seconds.doubleValue
        }
        if let count = options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber, count.intValue > 0 {
            maximumReaderCount = min(count.intValue, 64)
        }
        for (name, value) in options?[NSSQLitePragmasOption] as? [String: Any] ?? [:] {
            let name = name.lowercased()
            let value = String(describing: value)
            // Pragmas cannot be bound, so nothing but plain words and numbers gets through.
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isWord), !value.isEmpty,
                value.utf8.allSatisfy({ Self.isWord($0) || $0 == UInt8(ascii: "-") })
            else { continue }
            if name == "journal_mode" {
                journalMode = value.lowercased()
            } else {
                pragmas.append((name, value))
            }
        }
        pragmas.sort { $0.name < $1.name }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
