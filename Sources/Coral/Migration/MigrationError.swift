import CoreData

/// Why a store cannot be migrated, or a migration is declared wrongly.
public struct MigrationError: Error, Sendable, Hashable {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A model or a mapping model does not exist or cannot be read.
        public static let missingModel = Code(rawValue: "missingModel")
        /// The version with which the store was written is not known.
        public static let missingSourceVersion = Code(rawValue: "missingSourceVersion")
        /// The store was written with a later version than the one to migrate to.
        public static let laterVersion = Code(rawValue: "laterVersion")
        /// The store was written with another model, not with another version of this one.
        public static let otherModel = Code(rawValue: "otherModel")
        /// A step can neither be inferred, nor is there a mapping model.
        public static let impossibleStep = Code(rawValue: "impossibleStep")
        /// A step is not inferred, so that it is not made by SQL.
        public static let notLightweight = Code(rawValue: "notLightweight")
        /// A repair that concerns no property of the models, or one that it does not fit.
        public static let wrongRepair = Code(rawValue: "wrongRepair")
        /// A value that a repair cannot convert.
        public static let wrongValue = Code(rawValue: "wrongValue")
    }

    /// The kind of error.
    public var code: Code
    /// The error and, where there is one, its remedy, in sentences.
    public var message: String

    /// An error of a kind.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension MigrationError: CustomStringConvertible, LocalizedError {
    public var description: String { message }
    public var errorDescription: String? { message }
}
