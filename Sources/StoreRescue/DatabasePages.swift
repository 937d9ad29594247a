import AtomicFiles
import Foundation

/// The pages of a database file, with those of its write-ahead log, read without SQLite: for files that SQLite rejects.
///
/// The formats are those of sqlite.org/fileformat2.html. Nothing in the file is trusted; the page size is found from the
/// pages themselves if the header is damaged.
struct DatabasePages {
    /// The size of a page in bytes, and the size of its part with data.
    let size: Int
    let usableSize: Int
    /// The number of pages, according to the log if it states more than the file has.
    let count: Int
    /// The numbers of the pages with content in the files, ascending.
    let numbers: [Int]
    /// The encoding of text.
    let encoding: String.Encoding
    /// Whether the file has pages that contain the parents of others, as every store with `auto_vacuum` has.
    let hasPointerMap: Bool
    private let file: Data
    /// The positions of pages in the log, by page number.
    private let logged: [Int: Int]
    private let log: Data
    /// The end of the last complete transaction in the log.
    private let committedEnd: Int

    /// Reads the files of a database. Both are mapped into memory.
    ///
    /// - Throws: `CocoaError` if a file cannot be read or is shorter than a page.
    init(url: URL) throws {
        if let path = FileStatus.firstIrregular(url.path, companions: [url.path + "-wal"]) {
            throw CocoaError(
                .fileReadUnknown,
                userInfo: [
                    NSLocalizedDescriptionKey: "\(path) is not a regular file, and is not opened.", NSURLErrorKey: url,
                    NSFilePathErrorKey: path,
                ])
        }
        file = try Data(contentsOf: url, options: .alwaysMapped)
        let hasHeader = file.starts(with: Array("SQLite format 3\0".utf8)) && file.count >= 100
        let declared = hasHeader ? Int(file[16]) << 8 | Int(file[17]) : 0
        let stated = declared == 1 ? 65536 : declared
        let isStated = Self.sizes.contains(stated)
        size = isStated ? stated : Self.likelySize(of: file)
        guard file.count >= size else {
            throw CocoaError(
                .fileReadCorruptFile,
                userInfo: [
                    NSLocalizedDescriptionKey: "The file is shorter than a page of a database.", NSURLErrorKey: url,
                    NSFilePathErrorKey: url.path,
                ])
        }
        // A larger value would leave too few bytes for a cell.
        let reserved = isStated && file[20] <= 32 ? Int(file[20]) : 0
        usableSize = size - reserved
        let logPath = url.path + "-wal"
        // A log that exists and cannot be read is an error: without it the file may be an old state. An empty file cannot
        // be mapped.
        let hasLog = FileStatus(logPath).map { $0.byteCount > 0 } ?? false
        let log = try hasLog ? Data(contentsOf: URL(fileURLWithPath: logPath), options: .alwaysMapped) : Data()
        self.log = log
        let size = size
        let frames = WriteAheadLog(log, pageSize: size)
        logged = frames.positions
        committedEnd = frames.committedEnd
        let fileCount = (file.count + size - 1) / size
        count = max(frames.pageCount ?? 0, fileCount)
        numbers = Array(1...fileCount) + frames.positions.keys.filter { $0 > fileCount }.sorted()
        let first = logged[1].map { log[$0..<$0 + size] } ?? file[0..<size]
        let start = first.startIndex
        let isUsable = first.starts(with: Array("SQLite format 3\0".utf8))
        switch isUsable ? first[start + 59] : 1 {
        case 2: encoding = .utf16LittleEndian
        case 3: encoding = .utf16BigEndian
        default: encoding = .utf8
        }
        let root = first[start + 52..<start + 56].reduce(0) { $0 << 8 | Int($1) }
        var isMapped = isUsable ? root != 0 : true
        if !isUsable {
            let offset = logged[2] ?? size
            let source = logged[2] == nil ? file : log
            // Page 2 of such a file has entries of five bytes, the first of which is a type from 1 to 5.
            isMapped =
                source.count >= offset + 25 && (0..<5).allSatisfy { (1...5).contains(source[offset + 5 * $0]) }
        }
        hasPointerMap = isMapped
    }

    static let sizes: [Int] = (9...16).map { 1 << $0 }

    /// A page by its number, from 1; nil if the file has no such page. A page at the end may be incomplete, and is
    /// filled with zeros.
    func page(_ number: Int) -> [UInt8]? {
        guard number >= 1, number <= count else { return nil }
        if let position = logged[number] { return Array(log[position..<position + size]) }
        let start = (number - 1) * size
        guard start < file.count else { return nil }
        let bytes = Array(file[start..<min(start + size, file.count)])
        return bytes.count == size ? bytes : bytes + [UInt8](repeating: 0, count: size - bytes.count)
    }

    // MARK: - Earlier contents

    /// The content that a page has in the file, if the log has a newer one.
    func replacedPage(_ number: Int) -> [UInt8]? {
        guard logged[number] != nil, number >= 1, number * size <= file.count else { return nil }
        return Array(file[(number - 1) * size..<number * size])
    }

    /// A content of a page in the log that is not its current one.
    struct EarlierFrame {
        /// The number of the frame in the log, from 1.
        let frame: Int
        let page: Int
        let bytes: [UInt8]
    }

    /// Calls a function with each content of a page in the log that is not its current one, in the order of the frames: those that
    /// later transactions have replaced, and those of an earlier use of the log. Frames of transactions that were not completed are
    /// not included: their contents were never part of the store.
    func forEachEarlierFrame(_ body: (EarlierFrame) throws -> Void) rethrows {
        guard log.count > 32 else { return }
        let length = 24 + size
        func number(_ offset: Int) -> Int { log[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        guard number(8) == size else { return }
        let current = (number(16), number(20))
        var salts = current
        // A transaction ends with a frame that states the size of the database.
        var pending: [(frame: Int, start: Int)] = []
        for (index, start) in stride(from: 32, through: log.count - length, by: length).enumerated() {
            let own = (number(start + 8), number(start + 12))
            if own != salts { pending = [] }
            salts = own
            guard own != current || start < committedEnd else { continue }
            if number(start) >= 1, logged[number(start)] != start + 24 { pending.append((index + 1, start)) }
            guard number(start + 4) > 0 else { continue }
            for (frame, start) in pending {
                try body(
                    EarlierFrame(frame: frame, page: number(start), bytes: Array(log[start + 24..<start + length])))
            }
            pending = []
        }
    }

    // MARK: - Pointer map

    /// The kinds of pages in the pointer map.
    enum Kind: UInt8 {
        case root = 1
        case free, firstOverflow, laterOverflow, node
    }

    /// The kind and the parent of a page; nil if there is no pointer map, or its entry is not valid.
    func parent(of number: Int) -> (kind: Kind, page: Int)? {
        guard hasPointerMap, number > 2 else { return nil }
        let entries = usableSize / 5
        let map = 2 + (number - 2) / (entries + 1) * (entries + 1)
        guard map != number, let page = page(map) else { return nil }
        let offset = (number - map - 1) * 5
        guard offset + 5 <= usableSize, let kind = Kind(rawValue: page[offset]) else { return nil }
        let parent = page[offset + 1..<offset + 5].reduce(0) { $0 << 8 | Int($1) }
        guard parent <= count, (kind == .root || kind == .free) == (parent == 0) else { return nil }
        return (kind, parent)
    }

    /// Whether a page is one of the pointer map, or the page that locks are at, which has no content.
    func isAuxiliary(_ number: Int) -> Bool {
        number == 1 << 30 / size + 1 || hasPointerMap && number >= 2 && (number - 2) % (usableSize / 5 + 1) == 0
    }

    // MARK: - Page size

    /// The size by which most of the file consists of pages of tables: cells fill a page from its end.
    private static func likelySize(of file: Data) -> Int {
        let scores = sizes.map { size -> (score: Int, size: Int) in
            // A sample is enough, and the whole of a small file.
            let count = file.count / size
            let step = max(1, count / 2000)
            let valid = stride(from: 0, to: count, by: step).count { index in
                let page = Array(file[index * size..<(index + 1) * size])
                return TablePage(page, number: index + 1, usableSize: size)?.endsAtEnd == true
            }
            return (valid * size * step, size)
        }
        return scores.max { ($0.score, $1.size) < ($1.score, $0.size) }.flatMap { $0.score > 0 ? $0.size : nil } ?? 4096
    }
}

/// The committed pages of a write-ahead log.
struct WriteAheadLog {
    /// The positions of the newest contents of pages.
    private(set) var positions: [Int: Int] = [:]
    /// The number of pages of the database after the last transaction; nil if there is none.
    private(set) var pageCount: Int?
    /// The position after the last transaction; 0 if there is none.
    private(set) var committedEnd = 0

    /// Reads the frames up to the first one that is not valid: frames after it are of earlier use, or were not
    /// completed.
    init(_ log: Data, pageSize: Int) {
        guard log.count > 32 else { return }
        func number(_ offset: Int) -> UInt32 { log[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        let magic = number(0)
        guard magic == 0x377f_0682 || magic == 0x377f_0683, Int(number(8)) == pageSize else { return }
        let isBigEndian = magic & 1 == 1
        var sums: (UInt32, UInt32) = (0, 0)
        func add(_ range: Range<Int>) {
            log[range].withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count, by: 8) {
                    let (first, second) = (
                        bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self),
                        bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    )
                    sums.0 &+= (isBigEndian ? first.bigEndian : first.littleEndian) &+ sums.1
                    sums.1 &+= (isBigEndian ? second.bigEndian : second.littleEndian) &+ sums.0
                }
            }
        }
        add(0..<24)
        guard sums == (number(24), number(28)) else { return }
        var pending: [Int: Int] = [:]
        for start in stride(from: 32, through: log.count - 24 - pageSize, by: 24 + pageSize) {
            guard number(start + 8) == number(16), number(start + 12) == number(20) else { return }
            add(start..<start + 8)
            add(start + 24..<start + 24 + pageSize)
            guard sums == (number(start + 16), number(start + 20)) else { return }
            pending[Int(number(start))] = start + 24
            let size = number(start + 4)
            guard size > 0 else { continue }
            positions.merge(pending) { $1 }
            pending = [:]
            pageCount = Int(size)
            committedEnd = start + 24 + pageSize
        }
    }
}
