import CZlib
import Foundation

/// The model that a store contains in `Z_MODELCACHE`: a compiled model as raw DEFLATE data, without header.
public enum ModelCache {
    /// The maximum size of an inflated model; a larger one is treated as damaged.
    private static let sizeLimit = 256 << 20

    /// Reads the content of `Z_CONTENT`. Throws ``ModelError`` when it is damaged.
    public static func read(_ content: Data) throws -> Model {
        try ModelArchive.read(inflate(content))
    }

    /// Writes the content of `Z_CONTENT`. Throws as ``ModelArchive/write(_:form:moduleName:)`` does.
    public static func write(_ model: Model) throws -> Data {
        try deflate(ModelArchive.write(model, form: .cached))
    }

    /// Inflates raw DEFLATE data. Throws ``ModelError`` when the data is damaged, truncated or too large.
    public static func inflate(_ data: Data) throws -> Data {
        var stream = z_stream()
        // Negative window bits mean raw DEFLATE data to zlib.
        guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw ModelError(.malformedFile, "The cached model cannot be inflated.")
        }
        defer { inflateEnd(&stream) }
        return try run(&stream, on: data) { stream, output in
            switch CZlib.inflate(&stream, Z_NO_FLUSH) {
            case Z_STREAM_END: return true
            case Z_OK where output <= sizeLimit: return false
            default: throw ModelError(.malformedFile, "The cached model is damaged: it cannot be inflated.")
            }
        }
    }

    /// Raw DEFLATE at level 5, which gives the same bytes as Apple's framework.
    public static func deflate(_ data: Data) throws -> Data {
        var stream = z_stream()
        let memoryLevel: Int32 = 8
        guard
            deflateInit2_(
                &stream, 5, Z_DEFLATED, -15, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else {
            throw ModelError(.malformedFile, "The model cannot be deflated.")
        }
        defer { deflateEnd(&stream) }
        return try run(&stream, on: data) { stream, _ in
            switch CZlib.deflate(&stream, Z_FINISH) {
            case Z_STREAM_END: return true
            case Z_OK: return false
            default: throw ModelError(.malformedFile, "The model cannot be deflated.")
            }
        }
    }

    /// Runs a stream on data and collects its output, until `step` returns true. `step` receives the stream and the
    /// number of bytes collected so far.
    private static func run(
        _ stream: inout z_stream, on data: Data, step: (inout z_stream, Int) throws -> Bool
    ) throws -> Data {
        var output = Data()
        var input = Array(data)
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        // zlib is a C library and takes pointers; they are valid within the closures.
        try input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            var isAtEnd = false
            while !isAtEnd {
                let produced = try chunk.withUnsafeMutableBufferPointer { chunk in
                    stream.next_out = chunk.baseAddress
                    stream.avail_out = UInt32(chunk.count)
                    isAtEnd = try step(&stream, output.count)
                    return chunk.count - Int(stream.avail_out)
                }
                if produced == 0, !isAtEnd {
                    throw ModelError(.malformedFile, "The cached model is damaged: it is truncated.")
                }
                output.append(contentsOf: chunk[..<produced])
            }
        }
        return output
    }
}
