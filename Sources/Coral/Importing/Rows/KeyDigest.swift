#if !canImport(Darwin) && !CORAL_PUBLIC_API

    /// A keyed 128-bit hash of an object's key, with secrets of the process.
    ///
    /// Keys with equal digests are considered equal. An accidental collision is improbable, and a deliberate one
    /// requires the secrets.
    struct KeyDigest: Hashable {
        var high: UInt64
        var low: UInt64

        private static let secrets: (UInt64, UInt64, UInt64) = (
            .random(in: .min ... .max) | 1, .random(in: .min ... .max) | 1, .random(in: .min ... .max)
        )

        /// The initial digest for one kind of key.
        init(kind: Int) {
            high = KeyDigest.secrets.2
            low = ~KeyDigest.secrets.2
            add(UInt64(kind))
        }

        @inline(__always)
        mutating func add(_ word: UInt64) {
            high = KeyDigest.mix(high ^ word, KeyDigest.secrets.0) &+ word
            low = KeyDigest.mix(low ^ word, KeyDigest.secrets.1) ^ word
        }

        @inline(__always)
        mutating func add(_ integer: Int64) { add(UInt64(bitPattern: integer)) }

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            add(UInt64(bytes.count))
            var index = 0
            while index + 8 <= bytes.count {
                add(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index += 8
            }
            guard index < bytes.count else { return }
            var rest: UInt64 = 0
            while index < bytes.count {
                rest = rest << 8 | UInt64(bytes[index])
                index += 1
            }
            add(rest)
        }

        @inline(__always)
        private static func mix(_ value: UInt64, _ factor: UInt64) -> UInt64 {
            let (high, low) = value.multipliedFullWidth(by: factor)
            return high ^ low
        }
    }

#endif
