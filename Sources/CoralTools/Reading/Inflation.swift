import CZlib
import Foundation

/// The content of compressed bytes: gzip and zlib.
enum Inflation {
    /// More is not inflated: a few bytes can expand to gigabytes.
    private static let byteLimit = 32 << 20

    /// The name of the form, and the content; nil for bytes of another form, and for damaged ones.
    static func content(of data: Data) -> (name: String, content: Data)? {
        let start = Array(data.prefix(2))
        guard start.count == 2, data.count > 6 else { return nil }
        let isGzip = start == [0x1F, 0x8B]
        // The first two bytes of zlib are a number that 31 divides, with the method 8 and a window of at most 32 KB.
        let isZlib =
            start[0] & 0x0F == 8 && start[0] >> 4 <= 7 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
            && start[1] & 0x20 == 0
        guard isGzip || isZlib, let content = inflated(data) else { return nil }
        return (isGzip ? "gzip" : "zlib", content)
    }

    private static func inflated(_ data: Data) -> Data? {
        var stream = z_stream()
        // 32 more than the bits of the window: both forms are recognised by their heads.
        guard inflateInit2_(&stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(&stream) }
        var input = [UInt8](data)
        var content = Data()
        var piece = [UInt8](repeating: 0, count: 65536)
        return input.withUnsafeMutableBufferPointer { input -> Data? in
            stream.next_in = input.baseAddress
            stream.avail_in = uInt(input.count)
            while true {
                let status = piece.withUnsafeMutableBufferPointer { piece -> Int32 in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = uInt(piece.count)
                    return inflate(&stream, Z_NO_FLUSH)
                }
                content.append(contentsOf: piece[..<(piece.count - Int(stream.avail_out))])
                if status == Z_STREAM_END { return content }
                guard status == Z_OK, content.count <= byteLimit else { return nil }
            }
        }
    }
}
