import Foundation

// With Core Data, the module that the class needs is loaded.
final class Resources: Bundle, @unchecked Sendable {}
