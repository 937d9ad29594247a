import Foundation

/// The hashes SHA-256 and SHA-512 of the Secure Hash Standard (FIPS 180-4), which version hashes use.
///
/// Implemented here because nothing else in the package needs a cryptographic library. The C sources of such a library take
/// longer to build than the package, and would be built twice if a model is compiled: for the program, and for the tool that
/// runs at build time. The running time depends only on the length of the input.
package enum SecureHash {
    /// The 32 bytes of SHA-256.
    package static func sha256(_ data: Data) -> Data { Data(sha256([UInt8](data))) }

    /// The 32 bytes of SHA-256.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var state = initial256
        let end = bytes.count / 64 * 64
        add256(bytes, count: end, to: &state)
        let last = padded(bytes[end...], byteCount: bytes.count, blockSize: 64)
        add256(last, count: last.count, to: &state)
        return bigEndianBytes(of: state)
    }

    /// The 32 bytes of SHA-256 of a message in pieces, of which one is in memory. Throws the error of the closure.
    ///
    /// - Parameter next: Returns the next piece; nil or an empty one at the end.
    package static func sha256(ofPieces next: () throws -> Data?) rethrows -> Data {
        var state = initial256
        var rest: [UInt8] = []
        var count = 0
        while let piece = try next(), !piece.isEmpty {
            count += piece.count
            rest += piece
            let end = rest.count / 64 * 64
            add256(rest, count: end, to: &state)
            rest.removeFirst(end)
        }
        let last = padded(rest[...], byteCount: count, blockSize: 64)
        add256(last, count: last.count, to: &state)
        return Data(bigEndianBytes(of: state))
    }

    /// The 64 bytes of SHA-512.
    static func sha512(_ data: Data) -> Data {
        var state: [UInt64] = [
            0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
            0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
        ]
        let message = padded([UInt8](data)[...], byteCount: data.count, blockSize: 128)
        for start in stride(from: 0, to: message.count, by: 128) { add512(message[start..<start + 128], to: &state) }
        return Data(state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    }

    /// The 32 bytes of HMAC-SHA256 (RFC 2104).
    package static func authenticationCode(for data: Data, key: Data) -> Data {
        let key = key.count > 64 ? sha256(key) : key
        let block = key + Data(repeating: 0, count: 64 - key.count)
        return sha256(Data(block.map { $0 ^ 0x5C }) + sha256(Data(block.map { $0 ^ 0x36 }) + data))
    }

    /// The end of a message with its padding: a one bit, zeros, and the message's length in bits in the last eighth of a
    /// block.
    private static func padded(_ end: ArraySlice<UInt8>, byteCount: Int, blockSize: Int) -> [UInt8] {
        let lengthSize = blockSize / 8
        let count = (end.count + 1 + lengthSize + blockSize - 1) / blockSize * blockSize
        var message = [UInt8](repeating: 0, count: count)
        // Bytes are copied as a block, since a model has a thousand short messages, and sequences are slow in a debug build.
        message.withUnsafeMutableBytes { message in end.withUnsafeBytes { message.copyMemory(from: $0) } }
        message[end.count] = 0x80
        // The upper half of the length is zero for any data that fits into a file.
        var length = UInt64(byteCount) * 8
        for place in 1...8 {
            message[count - place] = UInt8(truncatingIfNeeded: length)
            length >>= 8
        }
        return message
    }

    private static func bigEndianBytes(of words: [UInt32]) -> [UInt8] {
        words.map(\.bigEndian).withUnsafeBytes(Array.init)
    }

    private static let initial256: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    /// Adds whole blocks, the first `count` bytes.
    private static func add256(_ bytes: [UInt8], count: Int, to state: inout [UInt32]) {
        // Pointers, because the loop of a block is most of the hashing, and reading a static constant is a call.
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            constants.withUnsafeBufferPointer { constants in
                bytes.withUnsafeBufferPointer { bytes in
                    for start in stride(from: 0, to: count, by: 64) {
                        add256(bytes, from: start, schedule, constants, to: &state)
                    }
                }
            }
        }
    }

    private static func add256(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ schedule: UnsafeMutableBufferPointer<UInt32>,
        _ constants: UnsafeBufferPointer<UInt64>, to state: inout [UInt32]
    ) {
        func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 - count) }
        for round in 0..<16 {
            let place = start + 4 * round
            let upper = UInt32(bytes[place]) &<< 24 | UInt32(bytes[place + 1]) &<< 16
            schedule[round] = upper | UInt32(bytes[place + 2]) &<< 8 | UInt32(bytes[place + 3])
        }
        for round in 16..<64 {
            let (early, late) = (schedule[round - 15], schedule[round - 2])
            let first = turned(early, 7) ^ turned(early, 18) ^ early &>> 3
            let second = turned(late, 17) ^ turned(late, 19) ^ late &>> 10
            schedule[round] = schedule[round - 16] &+ first &+ schedule[round - 7] &+ second
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for round in 0..<64 {
            let mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
            let constant = UInt32(truncatingIfNeeded: constants[round] &>> 32)
            let first = h &+ mixed &+ ((e & f) ^ (~e & g)) &+ constant &+ schedule[round]
            let other = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
            let second = other &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
        state[5] &+= f
        state[6] &+= g
        state[7] &+= h
    }

    private static func add512(_ block: ArraySlice<UInt8>, to state: inout [UInt64]) {
        func turned(_ word: UInt64, _ count: UInt64) -> UInt64 { word &>> count | word &<< (64 - count) }
        var schedule = stride(from: block.startIndex, to: block.endIndex, by: 8).map { start in
            block[start..<start + 8].reduce(UInt64(0)) { $0 &<< 8 | UInt64($1) }
        }
        for round in 16..<80 {
            let (early, late) = (schedule[round - 15], schedule[round - 2])
            let first = turned(early, 1) ^ turned(early, 8) ^ early &>> 7
            let second = turned(late, 19) ^ turned(late, 61) ^ late &>> 6
            schedule.append(schedule[round - 16] &+ first &+ schedule[round - 7] &+ second)
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for round in 0..<80 {
            let mixed = turned(e, 14) ^ turned(e, 18) ^ turned(e, 41)
            let constant = constants[round]
            let first = h &+ mixed &+ ((e & f) ^ (~e & g)) &+ constant &+ schedule[round]
            let other = turned(a, 28) ^ turned(a, 34) ^ turned(a, 39)
            let second = other &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    /// The first bits of the fractions of the cube roots of the first 80 primes; SHA-256 takes the upper halves of 64.
    private static let constants: [UInt64] = [
        0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
        0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
        0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
        0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
        0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
    ]
}
