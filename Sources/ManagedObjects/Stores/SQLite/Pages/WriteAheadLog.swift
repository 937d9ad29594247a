import Foundation

/// The committed pages of a write-ahead log.
struct WriteAheadLog {
    /// The positions of the newest contents of pages.
    private(set) var positions: [Int: Int] = [:]
    /// The number of pages of the database after the last transaction; nil if there is none.
    private(set) var pageCount: Int?

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
        }
    }
}
