import Foundation

/// The JSON of values that have no other form in the store.
enum StoredJSON {
    /// Numbers that JSON does not have, as texts. Other numbers stay as they are, so that any decoder reads them.
    private static let numbers = (infinity: "Infinity", negativeInfinity: "-Infinity", notANumber: "NaN")

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: numbers.infinity, negativeInfinity: numbers.negativeInfinity, nan: numbers.notANumber)
        return encoder
    }

    static func data(of value: any Encodable) throws -> Data { try encoder().encode(value) }

    static func value(of data: Data, as type: any Decodable.Type) throws -> Any {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: numbers.infinity, negativeInfinity: numbers.negativeInfinity, nan: numbers.notANumber)
        return try decoder.decode(type, from: data)
    }

    /// The name of the only member of a value that is encoded as an object, and the JSON of the member; nil for other values.
    ///
    /// The JSON is cut out of the whole. Numbers need not survive that it is parsed and written again.
    static func onlyMember(of value: any Encodable) throws -> (name: String, json: Data)? {
        let encoder = encoder()
        encoder.outputFormatting = .sortedKeys
        let object = try encoder.encode(value)
        guard let members = try? JSONDecoder().decode(MemberNames.self, from: object), members.names.count == 1,
            let name = members.names.first
        else { return nil }
        // `["name"]` begins with the same bytes as `{"name":…}`, but for the bracket.
        let prefix = try encoder.encode([name]).count
        return (name, Data(object.dropFirst(prefix).dropLast()))
    }

    private struct MemberNames: Decodable {
        let names: [String]

        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue)
        }

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }
}
