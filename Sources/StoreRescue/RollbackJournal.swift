/// The pages that a transaction has replaced in the file, and which SQLite restores if it was not completed.
struct RollbackJournal {
    let pageSize: Int
    /// The number of pages of the database before the transaction; 0 if the transaction created it.
    let pageCount: Int
    /// The positions of the former contents of pages.
    private(set) var positions: [Int: Int] = [:]

    private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    /// Reads a journal; nil if it is not one of an incomplete transaction, as when it is empty or its header was overwritten.
    ///
    /// Cost: the journal is read once. As in SQLite it ends at the first record that is not valid: its page was not yet replaced in the
    /// file.
    init?(_ file: DatabaseFile) {
        let first = file.bytes(0..<28)
        let (sectorSize, size) = (first.number(at: 20), first.number(at: 24))
        guard first.starts(with: Self.magic), DatabasePages.sizes.contains(size),
            (32...65536).contains(sectorSize), sectorSize.nonzeroBitCount == 1
        else { return nil }
        pageSize = size
        pageCount = first.number(at: 16)
        // The number of the page, its content, and a checksum.
        let recordSize = size + 8
        var start = 0
        // Each part begins with a sector of its own: its header.
        while start + sectorSize <= file.count {
            let header = file.bytes(start..<start + 28)
            guard header.starts(with: Self.magic) else { return }
            let stated = header.number(at: 8)
            let isUnstated = stated == 0xFFFF_FFFF
            var position = start + sectorSize
            let end = isUnstated ? file.count : position + stated * recordSize
            while position + recordSize <= end {
                guard position + recordSize <= file.count,
                    let page = Self.page(of: file.bytes(position..<position + recordSize), header, size)
                else { return }
                if page <= pageCount, positions[page] == nil { positions[page] = position + 4 }
                position += recordSize
            }
            start = (position + sectorSize - 1) / sectorSize * sectorSize
        }
    }

    /// The number of the page of a record; nil if the record is not valid.
    private static func page(of record: [UInt8], _ header: [UInt8], _ size: Int) -> Int? {
        let page = record.number(at: 0)
        guard page > 0, page != DatabasePages.lockPage(size: size) else { return nil }
        var sum = UInt32(truncatingIfNeeded: header.number(at: 12))
        for offset in stride(from: size - 200, to: 0, by: -200) { sum &+= UInt32(record[4 + offset]) }
        return Int(sum) == record.number(at: 4 + size) ? page : nil
    }
}
