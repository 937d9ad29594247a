import CoreData
import Foundation
import Testing

/// What data layers keep beside their stores.
@Suite struct UserDefaultsTests {
    /// PersistentHistoryTrackingKit reads its position by key-value coding:
    /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/value(forkey:)
    @Test func defaultsHaveValuesForKeys() throws {
        let name = "UserDefaultsTests"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        let date = Date(timeIntervalSinceReferenceDate: 7)
        defaults.setValue(date, forKey: "position")
        #expect(defaults.value(forKey: "position") as? Date == date)
        defaults.setValue(nil, forKey: "position")
        #expect(defaults.value(forKey: "position") == nil)
    }
}
