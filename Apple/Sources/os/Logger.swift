@_exported import Foundation
import Logging

/// Writes messages to the log of the program, as Apple's structure of this name does.
///
///     let logger = Logger(subsystem: "com.example.notes", category: "store")
///     logger.error("\(url.path, privacy: .public) could not be opened: \(error)")
///
/// The messages are written by swift-log: to standard error, or to the handler that the program has bootstrapped. The label of the
/// logger is `subsystem:category`.
public struct Logger: Sendable {
    private let log: OSLog

    /// A logger without a subsystem.
    public init() { log = .default }

    /// A logger for the messages of one part of a program.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// A logger that writes to a log.
    public init(_ logObj: OSLog) { log = logObj }

    /// Writes a message of the type `default`.
    public func log(_ message: OSLogMessage) { log.write(message.text, .default) }
    /// Writes a message of a type.
    public func log(level: OSLogType, _ message: OSLogMessage) { log.write(message.text, level) }
    /// Writes a message at the lowest level.
    public func trace(_ message: OSLogMessage) { log.write(message.text, level: .trace) }
    /// Writes a message for debugging.
    public func debug(_ message: OSLogMessage) { log.write(message.text, .debug) }
    /// Writes an informational message.
    public func info(_ message: OSLogMessage) { log.write(message.text, .info) }
    /// Writes a message of the type `default`.
    public func notice(_ message: OSLogMessage) { log.write(message.text, .default) }
    /// Writes a warning.
    public func warning(_ message: OSLogMessage) { log.write(message.text, level: .warning) }
    /// Writes an error.
    public func error(_ message: OSLogMessage) { log.write(message.text, .error) }
    /// Writes a critical error.
    public func critical(_ message: OSLogMessage) { log.write(message.text, .fault) }
    /// Writes a mistake of the program.
    public func fault(_ message: OSLogMessage) { log.write(message.text, .fault) }
}

/// The importance of a message.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// A message without a type of its own.
    public static let `default` = OSLogType(rawValue: 0)
    /// An informational message.
    public static let info = OSLogType(rawValue: 1)
    /// A message for debugging.
    public static let debug = OSLogType(rawValue: 2)
    /// An error.
    public static let error = OSLogType(rawValue: 16)
    /// A mistake of the program.
    public static let fault = OSLogType(rawValue: 17)
}

/// A log of a subsystem and a category.
public final class OSLog: NSObject, Sendable {
    private let logger: Logging.Logger?

    /// A log of one part of a program.
    public init(subsystem: String, category: String) {
        logger = Logging.Logger(label: [subsystem, category].filter { !$0.isEmpty }.joined(separator: ":"))
    }

    /// A log of a predefined category.
    public convenience init(subsystem: String, category: Category) {
        self.init(subsystem: subsystem, category: category.rawValue)
    }

    private init(_ logger: Logging.Logger?) { self.logger = logger }

    /// The log of messages without a subsystem.
    public static let `default` = OSLog(Logging.Logger(label: ProcessInfo.processInfo.processName))
    /// A log that writes nothing.
    public static let disabled = OSLog(nil)

    /// The predefined categories.
    public struct Category: Sendable {
        let rawValue: String
        /// Events on a time line.
        public static let pointsOfInterest = Category(rawValue: "PointsOfInterest")
        /// Events with call stacks.
        public static let dynamicStackTracing = Category(rawValue: "DynamicStackTracing")
        /// Events for profiling.
        public static let dynamicTracing = Category(rawValue: "DynamicTracing")
    }

    /// Whether a message of a type is written.
    public func isEnabled(type: OSLogType) -> Bool { logger.map { Self.level(type) >= $0.logLevel } ?? false }

    /// Whether intervals and events are recorded: they are not.
    public var signpostsEnabled: Bool { false }

    func write(_ message: () -> String, _ type: OSLogType) { write(message, level: Self.level(type)) }
    func write(_ message: String, _ type: OSLogType) { write(message, level: Self.level(type)) }
    func write(_ message: String, level: Logging.Logger.Level) { write({ message }, level: level) }
    private func write(_ message: () -> String, level: Logging.Logger.Level) {
        logger?.log(level: level, "\(message())")
    }

    private static func level(_ type: OSLogType) -> Logging.Logger.Level {
        switch type {
        case .debug: .debug
        case .info: .info
        case .error: .error
        case .fault: .critical
        default: .notice
        }
    }
}
