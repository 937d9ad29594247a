import Foundation

/// Writes a message with a format, such as `os_log("%{public}@ failed", log: log, type: .error, name)`.
///
/// Arguments of a format marked `private` or `sensitive` are written as `<private>`. A specifier without an argument is written as it
/// is.
public func os_log(
    _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default,
    _ args: Any?...
) {
    log.write({ FormattedMessage(message.description, args).text }, type)
}

/// Writes a message with a format.
public func os_log(
    _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString, _ args: Any?...
) {
    log.write({ FormattedMessage(message.description, args).text }, type)
}

/// Writes a message with interpolated values.
public func os_log(_ type: OSLogType = .default, log: OSLog = .default, _ message: OSLogMessage) {
    log.write(message.text, type)
}

/// A format of C with the annotations of Apple's logs, and its arguments.
struct FormattedMessage {
    private(set) var text = ""

    init(_ format: String, _ arguments: [Any?]) {
        var arguments = arguments[...]
        var rest = format[...]
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[percent...]
            guard let specifier = Specifier(rest) else {
                text += "%"
                rest = rest.dropFirst()
                continue
            }
            let written = rest[..<specifier.end]
            rest = rest[specifier.end...]
            if specifier.conversion == "%" {
                text += "%"
            } else if let argument = arguments.popFirst() {
                text += specifier.isHidden ? "<private>" : specifier.text(of: argument)
            } else {
                text += written
            }
        }
        text += rest
    }

    /// One conversion: `%{public}@`, `%ld`, `%.2f`.
    private struct Specifier {
        var isHidden = false
        var flags = ""
        let conversion: Character
        let end: Substring.Index

        init?(_ format: Substring) {
            var rest = format.dropFirst()
            if rest.first == "{" {
                guard let close = rest.firstIndex(of: "}") else { return nil }
                let marks = rest[..<close]
                isHidden = marks.contains("private") || marks.contains("sensitive")
                rest = rest[close...].dropFirst()
            }
            while let character = rest.first, "0123456789.+- #hlqzjtL".contains(character) {
                if "0123456789.+- #".contains(character) { flags.append(character) }
                rest = rest.dropFirst()
            }
            guard let conversion = rest.first, "@dDiuUxXoOfFeEgGaAcsSpm%".contains(conversion) else { return nil }
            self.conversion = conversion
            end = rest.index(after: rest.startIndex)
        }

        func text(of argument: Any?) -> String {
            guard let argument else { return "(null)" }
            switch conversion {
            case "x", "X", "o", "O", "d", "D", "i", "u", "U":
                guard let number = (argument as? any BinaryInteger).map({ Int64(truncatingIfNeeded: $0) }) else {
                    break
                }
                let letter = ["D": "d", "U": "u", "O": "o"][conversion] ?? String(conversion)
                return String(format: "%\(flags)ll\(letter)", number)
            case "f", "F", "e", "E", "g", "G", "a", "A":
                guard let number = (argument as? any BinaryFloatingPoint).map({ Double($0) }) else { break }
                return String(format: "%\(flags)\(conversion)", number)
            default: break
            }
            return OSLogInterpolation.description(of: argument)
        }
    }
}

/// Makes `error as CVarArg` compile, as on Apple's platforms. `os_log` reads the error itself, not its encoding.
extension NSError: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { localizedDescription._cVarArgEncoding }
}
