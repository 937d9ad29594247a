import Foundation

/// Runs the closure in an autorelease pool on Darwin; other platforms have none.
package func autoreleasing<Result>(_ body: () throws -> Result) rethrows -> Result {
    #if canImport(Darwin)
        try autoreleasepool(invoking: body)
    #else
        try body()
    #endif
}
