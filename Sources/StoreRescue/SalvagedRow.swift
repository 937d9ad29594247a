import Foundation
import SQLStatements

/// A row that was read from the pages of a table.
package struct SalvagedRow {
    package let key: Int64
    /// The values of the columns, in the order of the table. Columns that were added to the table later may be absent.
    package private(set) var values: [ColumnValue]
    /// The positions of columns whose value is lost, with null in its place.
    package private(set) var lost: [Int] = []
    /// The positions of columns of which a part is on a page of zeros: either the value contains zeros, or the page is
    /// damaged.
    package private(set) var doubtful: [Int] = []

    /// Reads the record of a cell.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes after which no overflow page is read: the values in the rest count as lost.
    ///   - claim: Called with each overflow page of the record. False if the page belongs to another one: the rest is lost.
    /// - Returns: Nil if the record is not valid.
    init?(
        _ cell: TablePage.Cell, of page: TablePage, in pages: DatabasePages, limit: Int = .max,
        claim: (Int) -> Bool = { _ in true }
    ) {
        var payload = Array(page.bytes[cell.local])
        var blank: [Range<Int>] = []
        // The parts that are missing are counted by the length of the payload.
        if var next = cell.overflow {
            var previous = page.number
            var seen: Set<Int> = []
            while payload.count < min(cell.payloadSize, limit) {
                guard seen.insert(next).inserted, let bytes = pages.page(next), !pages.isAuxiliary(next),
                    Self.isOverflow(next, after: previous, isFirst: previous == page.number, in: pages)
                else { break }
                let rest = cell.payloadSize - payload.count
                let following = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
                // Only the last page has no next one. Other values mean that the page is damaged.
                guard (following == 0) == (rest <= pages.usableSize - 4) else { break }
                guard claim(next) else { break }
                let part = bytes[4..<4 + min(rest, pages.usableSize - 4)]
                if part.allSatisfy({ $0 == 0 }) { blank.append(payload.count..<payload.count + part.count) }
                payload += part
                (previous, next) = (next, following)
            }
        }
        self.init(key: cell.key, payload, byteCount: cell.payloadSize, blank: blank, encoding: pages.encoding)
    }

    /// The beginning of the record of a cell, which is enough to know the table that it can belong to: the numbers of its columns, and
    /// the first values. Its cost does not grow with the record, of which many may share the rest.
    static func beginning(_ cell: TablePage.Cell, of page: TablePage, in pages: DatabasePages) -> SalvagedRow? {
        SalvagedRow(cell, of: page, in: pages, limit: 65536)
    }

    /// Reads a record.
    ///
    /// - Parameters:
    ///   - payload: The bytes of the record that were found, from its beginning.
    ///   - byteCount: The length of the whole record.
    ///   - blank: The parts that are on pages of zeros.
    /// - Returns: Nil if the record is not valid.
    init?(key: Int64, _ payload: [UInt8], byteCount: Int, blank: [Range<Int>] = [], encoding: String.Encoding) {
        self.key = key
        var position = 0
        guard let size = Varint.read(payload, &position, end: payload.count), size >= 1, size <= Int64(payload.count)
        else { return nil }
        let header = Int(size)
        var types: [Int64] = []
        while position < header {
            guard let type = Varint.read(payload, &position, end: header), type >= 0, type != 10, type != 11 else {
                return nil
            }
            types.append(type)
        }
        values = []
        values.reserveCapacity(types.count)
        var offset = header
        for type in types {
            let count = Self.byteCount(of: type)
            let end = offset.addingReportingOverflow(count)
            guard !end.overflow, end.partialValue <= byteCount else { return nil }
            let range = offset..<end.partialValue
            let isBlank = blank.contains { $0.overlaps(range) }
            let isBlob = type >= 12 && type.isMultiple(of: 2)
            // Text has no zeros, and numbers are not long enough to be on a page of their own.
            if count > 0, end.partialValue > payload.count || isBlank && !isBlob {
                lost.append(values.count)
                values.append(.null)
            } else {
                if isBlank { doubtful.append(values.count) }
                values.append(Self.value(count == 0 ? [] : payload[range], type, encoding))
            }
            offset = end.partialValue
        }
        guard offset == byteCount else { return nil }
    }

    /// Whether the pointer map, if there is a valid entry, agrees that a page continues a record.
    private static func isOverflow(_ number: Int, after previous: Int, isFirst: Bool, in pages: DatabasePages) -> Bool {
        guard let entry = pages.parent(of: number) else { return true }
        return entry.kind == (isFirst ? .firstOverflow : .laterOverflow) && entry.page == previous
    }

    /// The number of bytes of a value, by its serial type.
    static func byteCount(of type: Int64) -> Int {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        default: Int((type - 12) / 2)
        }
    }

    private static func value(_ bytes: ArraySlice<UInt8>, _ type: Int64, _ encoding: String.Encoding) -> ColumnValue {
        switch type {
        case 0: return .null
        case 8: return .integer(0)
        case 9: return .integer(1)
        case 1...6:
            let sign: Int64 = bytes.first.map { $0 >= 0x80 } == true ? -1 : 0
            return .integer(bytes.reduce(sign) { $0 << 8 | Int64($1) })
        case 7: return .real(Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
        case let type where type % 2 == 0: return .blob(Data(bytes))
        default:
            let text =
                encoding == .utf8 ? String(decoding: bytes, as: UTF8.self) : String(bytes: bytes, encoding: encoding)
            return .text(text ?? "")
        }
    }
}
