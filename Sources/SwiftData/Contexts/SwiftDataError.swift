/// An error of SwiftData itself. Errors of the store are `CocoaError`s, as Core Data's.
public struct SwiftDataError: Error, Hashable, CustomStringConvertible, Sendable {
    private let name: String
    /// What is wrong, and where; not compared.
    private(set) var explanation: String?

    private init(_ name: String) { self.name = name }

    /// The error, with a sentence that says what is wrong, and where.
    func because(_ explanation: String) -> SwiftDataError {
        var error = self
        error.explanation = explanation
        return error
    }

    public static let backwardMigration = SwiftDataError("backwardMigration")
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        "configurationFileNameContainsInvalidCharacters")
    public static let configurationFileNameTooLong = SwiftDataError("configurationFileNameTooLong")
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        "configurationSchemaNotFoundInContainerSchema")
    public static let duplicateConfiguration = SwiftDataError("duplicateConfiguration")
    public static let historyTokenExpired = SwiftDataError("historyTokenExpired")
    public static let includePendingChangesWithBatchSize = SwiftDataError("includePendingChangesWithBatchSize")
    public static let invalidTransactionFetchRequest = SwiftDataError("invalidTransactionFetchRequest")
    public static let loadIssueModelContainer = SwiftDataError("loadIssueModelContainer")
    public static let missingModelContext = SwiftDataError("missingModelContext")
    public static let modelValidationFailure = SwiftDataError("modelValidationFailure")
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError("sortingPendingChangesWithIdentifiers")
    public static let unknownSchema = SwiftDataError("unknownSchema")
    public static let unsupportedKeyPath = SwiftDataError("unsupportedKeyPath")
    public static let unsupportedPredicate = SwiftDataError("unsupportedPredicate")
    public static let unsupportedSortDescriptor = SwiftDataError("unsupportedSortDescriptor")

    public static func == (lhs: SwiftDataError, rhs: SwiftDataError) -> Bool { lhs.name == rhs.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Lets `catch SwiftDataError.unknownSchema` compare an error.
    public static func ~= (lhs: SwiftDataError, rhs: any Error) -> Bool { (rhs as? SwiftDataError) == lhs }

    public var description: String { explanation.map { "SwiftDataError.\(name): \($0)" } ?? "SwiftDataError.\(name)" }
}
