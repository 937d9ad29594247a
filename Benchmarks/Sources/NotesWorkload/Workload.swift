import Foundation

/// The values of the workload: pure functions of (field, row number), the same for every compared program.
package enum Workload {
    private static let words: [String] =
        ("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo "
        + "sierra tango uniform victor whiskey xray yankee zulu apple bread cheese dates eggs flour grapes honey icing jam "
        + "kale lemon milk nuts olives pepper quince rice salt tea udon vinegar water yeast zest the and of in to")
        .split(separator: " ").map(String.init)
        + ["café", "naïve", "Übung", "日本語", "\"quoted\"", "back\\slash", "line\nbreak", "it's"]

    private static let bodies: [String] = (0..<256).map { body in
        var text = ""
        var word: UInt64 = 0
        while text.utf8.count < 185 {
            if word > 0 { text += " " }
            text += words[Int(random(field: 0, row: UInt64(body) * 64 + word) & 63)]
            word += 1
        }
        return text
    }

    private static func random(field: UInt64, row: UInt64) -> UInt64 {
        var bits = field &* 0x9E37_79B9_7F4A_7C15 &+ row &* 0xD1B5_4A32_D192_ED03 &+ 42
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    private static func uuid(field: UInt64, row: UInt64) -> UUID {
        var halves = (random(field: field, row: row).bigEndian, random(field: field + 1, row: row).bigEndian)
        return withUnsafeMutableBytes(of: &halves) { bytes in
            bytes[6] = bytes[6] & 0x0f | 0x40
            bytes[8] = bytes[8] & 0x3f | 0x80
            return UUID(uuid: bytes.load(as: uuid_t.self))
        }
    }

    private static func date(milliseconds: UInt64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    package static func tagName(_ tag: Int) -> String { "tag-\(tag)" }

    /// The date of the query with a number in job 3.
    package static func queryDate(_ query: Int) -> Date {
        date(milliseconds: 1_577_836_800_000 + random(field: 9, row: UInt64(query)) % 126_230_400_000)
    }

    package struct NoteValues {
        package var id: UUID
        package var title: String
        package var body: String
        package var createdAt: Date
        package var isPinned: Bool
        package var rank: Double
        package var content: String
    }

    package static func note(_ number: Int) -> NoteValues {
        let row = UInt64(number)
        let bits = random(field: 3, row: row)
        return NoteValues(
            id: uuid(field: 1, row: row), title: "Note \(number) \(words[Int(bits & 63)])",
            body: "\(bodies[Int(bits >> 8 & 255)]) \(number)",
            createdAt: date(milliseconds: 1_577_836_800_000 + random(field: 4, row: row) % 126_230_400_000),
            isPinned: bits >> 24 & 7 == 0, rank: Double(random(field: 5, row: row) >> 11) / 9_007_199_254_740_992,
            content: "\(bodies[Int(bits >> 16 & 255)]) detail \(number)")
    }

    package struct ItemValues {
        package var name: String
        package var quantity: Int64
        package var price: Decimal
        package var tags: [Int]
    }

    package static func item(_ number: Int, tagTotal: Int) -> ItemValues {
        let bits = random(field: 6, row: UInt64(number))
        let links = random(field: 7, row: UInt64(number))
        var tags: [Int] = []
        for link in 0..<(links & 3) {
            let tag = Int((links >> (4 + 20 * link)) & 0xfffff) % tagTotal
            if !tags.contains(tag) { tags.append(tag) }
        }
        return ItemValues(
            name: "Item \(number) \(words[Int(bits & 63)])", quantity: Int64((bits >> 8) % 1_000_000),
            price: Decimal(sign: .plus, exponent: -2, significand: Decimal((bits >> 32) % 100_000)), tags: tags)
    }
}
