#if Macros
    import Foundation

    /// A reason why a package cannot be ported, as a sentence.
    package struct PortError: Error, LocalizedError, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }

        package var errorDescription: String? { description }
    }
#endif
