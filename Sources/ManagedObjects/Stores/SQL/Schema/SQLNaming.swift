/// What a database allows as names of tables and columns, and which values a store keeps outside of rows.
struct SQLNaming: Sendable {
    /// The maximum number of bytes of a name; nil if it is not limited.
    let limit: Int?
    /// Whether large values are in files beside the store.
    let hasExternalFiles: Bool

    static let sqlite = SQLNaming(limit: nil, hasExternalFiles: true)
    /// PostgreSQL cuts longer names, so that two could become equal.
    static let postgreSQL = SQLNaming(limit: 63, hasExternalFiles: false)

    /// A name within the limit: the beginning of a longer one, with a hash of all of it. The same in every process.
    func fitting(_ name: String) -> String {
        guard let limit, name.utf8.count > limit else { return name }
        // FNV-1a, of 64 bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let suffix = "_" + String(hash, radix: 16, uppercase: true)
        var start = ""
        for character in name {
            guard start.utf8.count + character.utf8.count + suffix.utf8.count <= limit else { break }
            start.append(character)
        }
        return start + suffix
    }
}
