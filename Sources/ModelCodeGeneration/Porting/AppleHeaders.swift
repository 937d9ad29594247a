import Foundation

/// The includes of Apple's headers in the C and Objective-C files of a package, such as `#include <mach/mach.h>`, outside the
/// conditions that hold on Apple's platforms only. The other conditions count as true.
enum AppleHeaders {
    /// The folders and files of Apple's headers in angle brackets.
    private static let names: Set<Substring> = [
        "AppKit", "Availability.h", "AvailabilityMacros.h", "CommonCrypto", "CoreData", "CoreFoundation", "Foundation",
        "Security", "TargetConditionals.h", "UIKit", "libkern", "mach", "mach-o", "objc", "os",
    ]
    /// What only Apple's platforms define.
    private static let marks = ["__APPLE__", "__OBJC__", "TARGET_OS_"]

    /// Whether a file is one of a target with C: in apps such files belong to projects of Xcode.
    static func mayContain(_ url: URL) -> Bool {
        ["c", "h", "m", "mm", "cpp"].contains(url.pathExtension) && url.pathComponents.contains("Sources")
    }

    /// One finding for each header.
    static func findings(in text: String, file: String) -> [PortingFinding] {
        var conditions: [Bool] = []
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { number, line in
            let indentation = line.prefix(while: \.isWhitespace).count
            let words = line.split(whereSeparator: \.isWhitespace)
            switch words.first {
            case "#if", "#ifdef", "#ifndef":
                let isApple = marks.contains { line.contains($0) }
                conditions.append(isApple && words.first != "#ifndef" && !line.contains("!"))
            case "#else", "#elif": if !conditions.isEmpty { conditions[conditions.count - 1] = false }
            case "#endif": _ = conditions.popLast()
            case "#include", "#import":
                guard !conditions.contains(true), let header = words.dropFirst().first, header.hasPrefix("<"),
                    let name = header.dropFirst().prefix(while: { $0 != ">" }).split(separator: "/").first,
                    names.contains(name)
                else { return nil }
                return PortingFinding(
                    file: file, line: number + 1, column: indentation + 1, code: words[0] + " " + header,
                    rule: .appleHeader)
            default: break
            }
            return nil
        }
    }
}
