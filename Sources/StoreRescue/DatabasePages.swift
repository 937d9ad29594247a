import AtomicFiles
import Foundation

/// The pages of a database file, with those of its write-ahead log and of its rollback journal, read without SQLite: for files that
/// SQLite rejects.
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
    private let file: DatabaseFile
    /// The positions of pages in the log, by page number.
    private let logged: [Int: Int]
    private let log: DatabaseFile
    /// The positions in the journal of pages that an incomplete transaction has replaced in the file, by page number.
    private let journaled: [Int: Int]
    private let journal: DatabaseFile
    /// The number of pages of the file, without those that an incomplete transaction has added.
    private let fileCount: Int
    /// The end of the last complete transaction in the log.
    private let committedEnd: Int
    /// Whether the log has transactions after a part that is damaged.
    let isLogDamaged: Bool

    /// Opens the files of a database. Pages are read when they are needed.
    ///
    /// - Throws: `CocoaError` if a file cannot be read or is shorter than a page.
    init(url: URL) throws {
        if let path = FileStatus.firstIrregular(url.path, companions: [url.path + "-wal", url.path + "-journal"]) {
            throw CocoaError(
                .fileReadUnknown,
                userInfo: [
                    NSLocalizedDescriptionKey: "\(path) is not a regular file, and is not opened.", NSURLErrorKey: url,
                    NSFilePathErrorKey: path,
                ])
        }
        let file = try DatabaseFile(url)
        // A log that exists and cannot be read is an error: without it the file may be an old state.
        let log = try DatabaseFile(ifExists: url.path + "-wal")
        let journal = try DatabaseFile(ifExists: url.path + "-journal")
        (self.file, self.log, self.journal) = (file, log, journal)
        let rollback = RollbackJournal(journal)
        let journaled = rollback?.positions ?? [:]
        self.journaled = journaled
        let header = journaled[1].map { journal.bytes($0..<$0 + 100) } ?? file.bytes(0..<100)
        let hasHeader = file.count >= 100 && header.starts(with: Self.magic)
        let declared = hasHeader ? Int(header[16]) << 8 | Int(header[17]) : 0
        let stated = declared == 1 ? 65536 : declared
        let isStated = Self.sizes.contains(stated)
        size = rollback?.pageSize ?? (isStated ? stated : Self.likelySize(of: file))
        guard file.count >= size else {
            throw CocoaError(
                .fileReadCorruptFile,
                userInfo: [
                    NSLocalizedDescriptionKey: "The file is shorter than a page of a database.", NSURLErrorKey: url,
                    NSFilePathErrorKey: url.path,
                ])
        }
        if rollback?.pageCount == 0 {
            throw CocoaError(
                .fileReadCorruptFile,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The transaction that created the database was not completed: it has no contents.",
                    NSURLErrorKey: url, NSFilePathErrorKey: url.path,
                ])
        }
        // A larger value would leave too few bytes for a cell.
        let reserved = isStated && header[20] <= 32 ? Int(header[20]) : 0
        usableSize = size - reserved
        let size = size
        let frames = WriteAheadLog(log, pageSize: size)
        logged = frames.positions
        committedEnd = frames.committedEnd
        isLogDamaged = frames.isDamaged
        let fileCount = min((file.count + size - 1) / size, rollback?.pageCount ?? .max)
        self.fileCount = fileCount
        count = max(frames.pageCount ?? 0, fileCount, journaled.keys.max() ?? 0)
        let others = Set(frames.positions.keys).union(journaled.keys).filter { $0 > fileCount }
        numbers = Array(1...fileCount) + others.sorted()
        func content(_ number: Int) -> [UInt8] {
            if let position = frames.positions[number] { return log.bytes(position..<position + size) }
            if let position = journaled[number] { return journal.bytes(position..<position + size) }
            return file.bytes((number - 1) * size..<number * size)
        }
        let first = content(1)
        let isUsable = first.starts(with: Self.magic)
        switch isUsable ? first[59] : 1 {
        case 2: encoding = .utf16LittleEndian
        case 3: encoding = .utf16BigEndian
        default: encoding = .utf8
        }
        if isUsable {
            hasPointerMap = first.number(at: 52) != 0
        } else {
            // Page 2 of such a file has entries of five bytes, the first of which is a type from 1 to 5.
            let second = content(2)
            hasPointerMap = (0..<5).allSatisfy { (1...5).contains(second[5 * $0]) }
        }
    }

    private static let magic = Array("SQLite format 3\0".utf8)

    /// Whether none of the files was written, added or removed since they were opened.
    var areUnchanged: Bool { [file, log, journal].allSatisfy(\.isUnchanged) }

    static let sizes: [Int] = (9...16).map { 1 << $0 }

    /// A page by its number, from 1; nil if the file has no such page. A page at the end may be incomplete, and is
    /// filled with zeros.
    func page(_ number: Int) -> [UInt8]? {
        guard number >= 1, number <= count else { return nil }
        if let position = logged[number] { return log.bytes(position..<position + size) }
        return filePage(number)
    }

    /// The content of a page without the log: that of the file before an incomplete transaction.
    private func filePage(_ number: Int) -> [UInt8]? {
        if let position = journaled[number] { return journal.bytes(position..<position + size) }
        return number <= fileCount ? file.bytes((number - 1) * size..<number * size) : nil
    }

    // MARK: - Earlier contents

    /// The content that a page has in the file, if the log has a newer one.
    func replacedPage(_ number: Int) -> [UInt8]? {
        guard logged[number] != nil, number >= 1 else { return nil }
        return filePage(number)
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
        let header = log.bytes(0..<32)
        guard header.number(at: 8) == size else { return }
        let current = (header.number(at: 16), header.number(at: 20))
        var salts = current
        // A transaction ends with a frame that states the size of the database.
        var pending: [(frame: Int, start: Int)] = []
        for (index, start) in stride(from: 32, through: log.count - length, by: length).enumerated() {
            let header = log.bytes(start..<start + 24)
            let own = (header.number(at: 8), header.number(at: 12))
            if own != salts { pending = [] }
            salts = own
            guard own != current || start < committedEnd else { continue }
            let page = header.number(at: 0)
            if page >= 1, logged[page] != start + 24 { pending.append((index + 1, start)) }
            guard header.number(at: 4) > 0 else { continue }
            for (frame, start) in pending {
                let bytes = log.bytes(start..<start + length)
                try body(EarlierFrame(frame: frame, page: bytes.number(at: 0), bytes: Array(bytes[24...])))
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
        let parent = page.number(at: offset + 1)
        guard parent <= count, (kind == .root || kind == .free) == (parent == 0) else { return nil }
        return (kind, parent)
    }

    /// Whether a page is one of the pointer map, or the page that locks are at, which has no content.
    func isAuxiliary(_ number: Int) -> Bool {
        number == Self.lockPage(size: size) || hasPointerMap && number >= 2 && (number - 2) % (usableSize / 5 + 1) == 0
    }

    /// The page that locks are at.
    static func lockPage(size: Int) -> Int { (1 << 30) / size + 1 }

    // MARK: - Page size

    /// The size by which most of the file consists of pages of tables: cells fill a page from its end.
    private static func likelySize(of file: DatabaseFile) -> Int {
        let scores = sizes.map { size -> (score: Int, size: Int) in
            // A sample is enough, and the whole of a small file.
            let count = file.count / size
            let step = max(1, count / 2000)
            let valid = stride(from: 0, to: count, by: step).count { index in
                let page = file.bytes(index * size..<(index + 1) * size)
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
    /// Whether the header is not valid, or a transaction of this use of the log ends after a frame that is not valid. SQLite ignores
    /// such transactions.
    private(set) var isDamaged = false

    /// Reads the frames up to the first one that is not valid: frames after it are of earlier use, were not completed, or can no longer
    /// be verified.
    init(_ log: DatabaseFile, pageSize: Int) {
        guard log.count > 32 else { return }
        let header = log.bytes(0..<32)
        let magic = header.number(at: 0)
        guard magic == 0x377f_0682 || magic == 0x377f_0683, header.number(at: 8) == pageSize else {
            isDamaged = true
            return
        }
        let isBigEndian = magic & 1 == 1
        var sums: (UInt32, UInt32) = (0, 0)
        func add(_ bytes: ArraySlice<UInt8>) {
            // Of each eight bytes, which every range here consists of.
            bytes.withUnsafeBytes { bytes in
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
        func areSums(_ bytes: [UInt8], at offset: Int) -> Bool {
            Int(sums.0) == bytes.number(at: offset) && Int(sums.1) == bytes.number(at: offset + 4)
        }
        add(header[0..<24])
        guard areSums(header, at: 24) else {
            isDamaged = true
            return
        }
        // The last frame may be one that was not written completely: those after it tell.
        var isValid = true
        var pending: [Int: Int] = [:]
        for start in stride(from: 32, through: log.count - 24 - pageSize, by: 24 + pageSize) {
            let frame = log.bytes(start..<start + 24 + pageSize)
            let isOfThisUse = frame[8..<16] == header[16..<24]
            guard isValid else {
                isDamaged = isOfThisUse && frame.number(at: 4) > 0
                if isDamaged { return }
                continue
            }
            add(frame[0..<8])
            add(frame[24...])
            isValid = isOfThisUse && areSums(frame, at: 16)
            guard isValid else { continue }
            pending[frame.number(at: 0)] = start + 24
            let size = frame.number(at: 4)
            guard size > 0 else { continue }
            positions.merge(pending) { $1 }
            pending = [:]
            pageCount = size
            committedEnd = start + 24 + pageSize
        }
    }
}
