import Foundation

/// The SQLite settings in a store's options.
package struct SQLiteOptions: Sendable {
    package var isReadOnly = false
    /// The time that a statement waits for other connections, in seconds.
    package var timeout: TimeInterval = 30
    package var maximumReaderCount = 5
    /// In lower case: `wal` unless the options contain another; nil for the mode that the file has.
    package var journalMode: String? = "wal"
    /// The other pragmas, in the order of their names.
    package var pragmas = [SQLiteOptions.pageCache]

    /// The size of a connection's page cache in kibibytes, as a negative number: 16 MB, which the cache reaches when as many
    /// different pages have been read or written. SQLite's own default of 2 MB makes the bulk load of a large store read
    /// the pages of its indexes again and again.
    private static let pageCache = (name: "cache_size", value: "-16000")

    /// The size of the page cache of connections that only read beside the one that writes: half, because there may be several.
    /// Nil if the options contain a size.
    private(set) var readerCacheSize: Int? = -8000

    /// The most bytes that a connection's page cache takes; for a size in pages as if they had 4 KB.
    var pageCacheByteCount: Int {
        let size = pragmas.last { $0.name == "cache_size" }.flatMap { Int($0.value) } ?? 0
        return min(Int(clamping: size.magnitude), 1 << 30) * (size < 0 ? 1024 : 4096)
    }

    package init() {}

    /// The options for work on a store whose journal mode must not change.
    package static var keepingJournalMode: SQLiteOptions {
        var options = SQLiteOptions()
        options.journalMode = nil
        return options
    }

    /// Sets pragmas. Pragmas have no parameters, so only plain words and numbers are accepted; others are left out.
    package mutating func setPragmas(_ values: [String: Any]) {
        for (name, value) in values {
            let name = name.lowercased()
            let value = String(describing: value)
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isWord), !value.isEmpty,
                value.utf8.allSatisfy({ Self.isWord($0) || $0 == UInt8(ascii: "-") })
            else { continue }
            if name == "journal_mode" {
                journalMode = value.lowercased()
            } else {
                if name == "cache_size" { readerCacheSize = nil }
                pragmas.removeAll { $0.name == name }
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
