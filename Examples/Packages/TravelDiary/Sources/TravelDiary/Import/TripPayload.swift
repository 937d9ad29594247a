import Foundation

/// A trip as the server sends it.
public struct TripPayload: Codable {
    public struct StopPayload: Codable {
        public var id: String?
        public var name: String
        public var latitude: Double
        public var longitude: Double
        public var arrival: Date?
    }

    public struct TravelerPayload: Codable {
        public var id: String
        public var firstName: String?
        public var lastName: String?
        public var email: String?
    }

    public struct ExpensePayload: Codable {
        public var id: String
        public var amount: String
        public var currency: String?
        public var category: String?
        public var payer: String?
    }

    public var id: String?
    public var name: String
    public var start: Date?
    public var end: Date?
    public var status: Int16?
    public var tags: [String]?
    public var stops: [StopPayload]?
    public var travelers: [TravelerPayload]?
    public var expenses: [ExpensePayload]?
    public var updated: Date?

    public static func decode(_ data: Data) throws -> [TripPayload] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode([TripPayload].self, from: data)
    }
}
