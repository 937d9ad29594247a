import Foundation

/// Finds rows in bytes of a page that belong to no cell.
///
/// SQLite overwrites the first four bytes of a cell that it frees, if others follow it in the page: the position of the next free
/// block, and the size of this one. They contained the length of the record, its key, and, of a short record, the beginning of its
/// header. All other bytes stay until the space is used again, unless `secure_delete` is on.
struct UnusedBytes {
    let bytes: [UInt8]
    let usableSize: Int
    let encoding: String.Encoding
    /// The forms of the tables to which the bytes can have belonged.
    let forms: [RowForm]
    /// The greatest number of columns of a form. A record with more is read no further, so that the cost of a position does not grow
    /// with the page.
    private let columnCount: Int

    init(bytes: [UInt8], usableSize: Int, encoding: String.Encoding, forms: [RowForm]) {
        (self.bytes, self.usableSize, self.encoding, self.forms) = (bytes, usableSize, encoding, forms)
        columnCount = forms.map(\.table.columns.count).max() ?? 0
    }

    /// A row that was found, with the form that it has.
    struct Found {
        let row: SalvagedRow
        let hasKey: Bool
        let form: RowForm
        fileprivate let end: Int
    }

    /// The rows in a range of bytes.
    ///
    /// - Parameter isBlock: Whether the range is one that SQLite has freed at once, so that its first bytes are overwritten.
    func rows(in range: Range<Int>, isBlock: Bool) -> [Found] {
        let end = min(range.upperBound, usableSize)
        var found: [Found] = []
        var position = range.lowerBound
        if isBlock, let first = beheaded(at: position, limit: end, endsAt: { endsRow($0, limit: end) }) {
            found.append(first)
            position = first.end
        }
        while position + 8 <= end {
            let next =
                whole(at: position, limit: end)
                ?? formerBlock(at: position, limit: end) { endsRow($0, limit: end) }
            if let next { found.append(next) }
            position = next?.end ?? position + 1
        }
        return found
    }

    /// Whether a row can end at a position: where the block ends, with at most three bytes that are too few for a block, or where
    /// another row begins.
    private func endsRow(_ position: Int, limit: Int) -> Bool {
        (0...3).contains(limit - position) || whole(at: position, limit: limit) != nil
            || formerBlock(at: position, limit: limit, endsAt: { _ in false }) != nil
    }

    // MARK: - Forms of rows

    /// A cell of which no byte is overwritten.
    func whole(at position: Int, limit: Int) -> Found? {
        guard position < limit, let cell = TablePage.cell(bytes, position, usableSize) else { return nil }
        let end = cell.local.upperBound + (cell.overflow == nil ? 0 : 4)
        // Pages with the rest of a record may be used by others since: its values there are lost.
        guard end <= limit, canBeRecord(cell.local, byteCount: cell.payloadSize),
            let row = SalvagedRow(
                key: cell.key, Array(bytes[cell.local]), byteCount: cell.payloadSize, encoding: encoding)
        else { return nil }
        return only(forms.filter { $0.fits(row, hasKey: true) }, row, hasKey: true, end: end)
    }

    /// Whether the header of a record has at most as many columns as a form, the first of which is the key, and states its length. The
    /// values are not read.
    private func canBeRecord(_ local: Range<Int>, byteCount: Int) -> Bool {
        var position = local.lowerBound
        guard let size = Varint.read(bytes, &position, end: local.upperBound), size >= 1, size <= Int64(local.count)
        else { return false }
        let end = local.lowerBound + Int(size)
        var (count, length) = (0, Int(size))
        while position < end {
            guard count < columnCount, let type = Varint.read(bytes, &position, end: end), type >= 0, type < 1 << 33,
                count > 0 || type == 0
            else { return false }
            length += SalvagedRow.byteCount(of: type)
            count += 1
        }
        return length == byteCount
    }

    /// A cell that began a free block before that became part of this range: the size of the block is in its first bytes.
    ///
    /// - Parameter endsAt: Whether the cell can end at a position before the end of the block.
    private func formerBlock(at position: Int, limit: Int, endsAt: (Int) -> Bool) -> Found? {
        guard position + 8 <= limit else { return nil }
        let size = Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
        guard size >= 8, position + size <= usableSize else { return nil }
        // The end of the block may be used again.
        let end = min(position + size, limit)
        return beheaded(at: position, limit: end) { $0 == position + size || endsAt($0) }
    }

    /// A cell whose first four bytes are overwritten. Of several ways to read it none is taken.
    private func beheaded(at position: Int, limit: Int, endsAt: (Int) -> Bool) -> Found? {
        var found: Found?
        for form in forms {
            // Whether a row begins at the end is asked last: it costs as much as everything before.
            for candidate in candidates(at: position, limit: limit, form)
            where form.fits(candidate.row, hasKey: false) && endsAt(candidate.end) {
                if let found, found.row.values != candidate.row.values || found.form.table.name != form.table.name {
                    return nil
                }
                found = Found(row: candidate.row, hasKey: false, form: form, end: candidate.end)
            }
        }
        return found
    }

    private func only(_ fitting: [RowForm], _ row: SalvagedRow, hasKey: Bool, end: Int) -> Found? {
        guard fitting.count == 1 else { return nil }
        return Found(row: row, hasKey: hasKey, form: fitting[0], end: end)
    }

    // MARK: - Overwritten beginnings

    /// The records that can begin before, at or after the fourth byte, completed by what the form determines.
    private func candidates(at position: Int, limit: Int, _ form: RowForm) -> [(row: SalvagedRow, end: Int)] {
        var candidates: [(SalvagedRow, Int)] = []
        // The length has one to three bytes, and the key one to nine.
        for begin in position + 2...position + 12 where begin + 4 <= limit {
            if begin >= position + 4 {
                add([], begin..<limit, from: begin, position, &candidates)
                continue
            }
            // The type of the key, which is not in the record, is 0.
            let known: [UInt8] = begin == position + 2 ? [0] : []
            for count in (3...form.table.columns.count).reversed() {
                guard
                    let length = headerLength(
                        from: position + 4, limit: limit, count: count - known.count, before: known.count)
                else { continue }
                add([UInt8(length)] + known, position + 4..<limit, from: begin, position, &candidates)
            }
        }
        return candidates
    }

    /// The length of a record's header, by the types in it.
    private func headerLength(from start: Int, limit: Int, count: Int, before: Int) -> Int? {
        var position = start
        for _ in 0..<count {
            guard position - start < 128, Varint.read(bytes, &position, end: limit) != nil else { return nil }
        }
        let length = 1 + before + position - start
        return length < 128 ? length : nil
    }

    /// Adds the record that consists of a beginning and of bytes of the page, if its length agrees with the bytes before it.
    private func add(
        _ beginning: [UInt8], _ rest: Range<Int>, from begin: Int, _ position: Int,
        _ candidates: inout [(SalvagedRow, Int)]
    ) {
        var offset = rest.lowerBound
        let size = beginning.first.map(Int64.init) ?? Varint.read(bytes, &offset, end: rest.upperBound)
        guard let size, size >= 4, size <= Int64(beginning.count + rest.count) else { return }
        let headerEnd = rest.lowerBound + Int(size) - beginning.count
        // The key is not in the record: its type is 0.
        guard offset < headerEnd, beginning.count == 2 || bytes[offset] == 0 else { return }
        var length = Int(size)
        // The first type may be the one that is not on the page.
        var count = beginning.count == 2 ? 1 : 0
        while offset < headerEnd {
            count += 1
            guard count <= columnCount, let type = Varint.read(bytes, &offset, end: headerEnd), type >= 0,
                type < 1 << 24
            else { return }
            length += SalvagedRow.byteCount(of: type)
        }
        // The bytes of the length are followed by at least one of the key.
        let lengthBytes = length < 128 ? 1 : length < 16384 ? 2 : 3
        guard length <= beginning.count + rest.count, (1...9).contains(begin - position - lengthBytes),
            let row = SalvagedRow(
                key: 0, beginning + bytes[rest.prefix(length - beginning.count)], byteCount: length, encoding: encoding)
        else { return }
        candidates.append((row, begin + length))
    }
}
