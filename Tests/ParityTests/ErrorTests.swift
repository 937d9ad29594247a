import CoreData
import Foundation
import Testing

/// The behaviour that error handling relies on. Imports Foundation after CoreData: no name becomes ambiguous.
@Suite struct ErrorTests {
    /// https://developer.apple.com/documentation/coredata/core-data-constants
    @Test func codesAreTheDocumentedOnes() {
        #expect(NSManagedObjectValidationError == 1550)
        #expect(NSValidationMissingMandatoryPropertyError == 1570)
        #expect(NSManagedObjectMergeError == 133020)
        #expect(NSPersistentStoreIncompatibleVersionHashError == 134100)
        #expect(NSPersistentHistoryTokenExpiredError == 134301)
        #expect(CocoaError.Code.validationMultipleErrors.rawValue == NSValidationMultipleErrorsError)
        #expect(CocoaError.persistentStoreOpenError == .persistentStoreOpen)
    }

    /// https://developer.apple.com/documentation/coredata/nsvalidationkeyerrorkey
    @Test func anErrorNamesTheInvalidProperty() throws {
        func save() throws {
            throw CocoaError(
                .validationStringTooLong,
                userInfo: [
                    NSValidationKeyErrorKey: "title", NSValidationValueErrorKey: "long",
                    NSValidationPredicateErrorKey: NSPredicate(format: "length <= 3"),
                ])
        }
        do {
            try save()
            Issue.record("The save must fail.")
        } catch CocoaError.validationStringTooLong {
        }
        do {
            try save()
        } catch let error as CocoaError {
            #expect(error.validationKey == "title")
            #expect(error.validationValue as? String == "long")
            #expect(error.validationPredicate?.predicateFormat == "length <= 3")
        }
        let error = NSError(domain: NSCocoaErrorDomain, code: NSSQLiteError, userInfo: nil)
        #expect((error as? CocoaError)?.code == .sqlite)
    }
}
